package inventory

// ClusterType is a changed cluster type with the sorted names of its changed deployment targets.
type ClusterType struct {
	Name                    string
	Kind                    Kind
	Added, Removed, Changed []string
	Unchanged               []string // for the graph
}

// Kind is the kind of a change.
type Kind int

// The kinds of changes.
const (
	Changed Kind = iota
	Added
	Removed
)

// KindOf returns the kind of the change of what is there before the change, or after it.
func KindOf(before, after bool) Kind {
	switch {
	case !before:
		return Added
	case !after:
		return Removed
	}
	return Changed
}

// Note returns the suffix for the name of an object that is added or removed.
func (k Kind) Note() string { return map[Kind]string{Added: " (new)", Removed: " (gone)"}[k] }
