package problem

// Reaction is what a guardrail does about what it finds.
type Reaction string

// The reactions. [unknown.Text] reports nothing, as [Ignore].
const (
	Warn   Reaction = "warn"
	Ignore Reaction = "ignore"
	Fail   Reaction = "error"
)

// Reactions lists the reactions; the first is the default.
var Reactions = []string{string(Warn), string(Ignore), string(Fail)}

// Severity returns the severity of what is reported.
func (r Reaction) Severity() Severity {
	if r == Fail {
		return Error
	}
	return Warning
}
