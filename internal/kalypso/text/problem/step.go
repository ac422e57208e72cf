package problem

// Step is a step of a [Problem]'s path: the name of an attribute, the index of a list or the key of a map.
type Step struct {
	Attribute string
	Index     int
	Key       string
	kind      stepKind
}

type stepKind int

const (
	attributeStep stepKind = iota
	indexStep
	keyStep
)

// Attr returns the step to an attribute, named as in Terraform.
func Attr(name string) Step { return Step{Attribute: name} }

// Index returns the step to an element of a list.
func Index(i int) Step { return Step{Index: i, kind: indexStep} }

// Key returns the step to an element of a map.
func Key(k string) Step { return Step{Key: k, kind: keyStep} }

// IsIndex reports whether the step leads to an element of a list.
func (s Step) IsIndex() bool { return s.kind == indexStep }

// Visit calls the function for the kind of step.
func (s Step) Visit(attribute func(string), index func(int), key func(string)) {
	switch s.kind {
	case indexStep:
		index(s.Index)
	case keyStep:
		key(s.Key)
	default:
		attribute(s.Attribute)
	}
}
