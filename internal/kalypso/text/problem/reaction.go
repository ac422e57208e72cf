package problem

// Reaction is the reaction of a guardrail to its findings.
type Reaction string

// The reactions. Like [Ignore], [unknown.Text] reports nothing.
const (
	Warn   Reaction = "warn"
	Ignore Reaction = "ignore"
	Fail   Reaction = "error"
)

// Reactions lists the reactions; the first is the default.
var Reactions = []string{string(Warn), string(Ignore), string(Fail)}

// Reports reports whether the reaction reports anything.
func (r Reaction) Reports() bool { return r == Warn || r == Fail }

// Severity returns the severity of the reported problems.
func (r Reaction) Severity() Severity {
	if r == Fail {
		return Error
	}
	return Warning
}
