package describe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Failure is a workload that an environment fails to render, for an issue.
type Failure struct {
	Environment, Workload string
	Targets               []string // what happens to each deployment target, such as "large / app-b: kept"
	Reasons               []Reason
	File                  string // where the workload was read; "": not from Git
	Marker                string // identifies the issue
	Fault                 string // identifies the failure, see [FaultMarker]
}

// Reason is a reason why deployment targets fail.
type Reason struct {
	Object  string // that the fault is in, such as `Template "flux"`
	Summary string
	Text    string // the error, of several lines
}

// The bounds of an issue. With them, its body is shorter than every host allows.
const (
	maxIssueTargets = 50
	maxIssueReasons = 10
	maxIssueText    = 3000 // of an error, in characters
	maxIssueName    = 80
	maxIssueList    = 60_000 // of a list of workloads, in bytes
)

// FaultMarker returns the line that identifies a failure in the body of an issue: an issue that people closed stays
// closed as long as the failure is the same. It is an invisible comment. The fault has letters, digits, - and _ alone.
func FaultMarker(fault string) string { return "<!-- kalypso-fault: " + fault + " -->" }

// Issue returns the title and the body of the issue of a workload that fails to render. Names and errors are those of
// teams: they stand in code, which mentions no person, closes nothing and runs nothing.
func Issue(f Failure) (title, body string) {
	w := &writer{}
	w.line("Environment %s fails to render the workload %s.", name(f.Environment), name(f.Workload))
	w.line("")
	for _, target := range first(f.Targets, maxIssueTargets) {
		w.line("- %s", name(target))
	}
	w.andMore(len(f.Targets)-maxIssueTargets, "deployment target")
	for _, reason := range first(f.Reasons, maxIssueReasons) {
		w.line("\nReason: %s in %s:\n", name(reason.Summary), name(reason.Object))
		w.line("%s", block(reason.Text))
	}
	w.andMore(len(f.Reasons)-maxIssueReasons, "reason")
	if f.File != "" {
		w.line("\nThe workload was read from %s.", name(f.File))
	}
	w.line("\nKept targets stay as they are on the branch; targets that are left out are not on it. Fix the " +
		"workload and push: the next apply of the environment closes this issue.")
	w.line("\n%s\n%s", FaultMarker(f.Fault), f.Marker)
	return issueTitle("Workload "+code(cut(f.Workload, 60))+" fails", f.Environment), w.b.String()
}

// FailureList is the list of workloads that fail to render and have no issue of their own.
type FailureList struct {
	Environment   string
	Workloads     []string // each with its first reason; if there are too many, the first ones are listed
	Marker, Fault string
}

// IssueOfMany returns the title and the body of the issue that lists workloads.
func IssueOfMany(l FailureList) (title, body string) {
	w := &writer{}
	w.line("Environment %s also fails to render %s:\n", name(l.Environment), problem.Count(len(l.Workloads), "workload"))
	var lines []string
	length := w.b.Len()
	for _, workload := range l.Workloads {
		line := "- " + code(cut(workload, 2*maxIssueName))
		length += len(line) + 1
		if length > maxIssueList {
			break
		}
		lines = append(lines, line)
	}
	for _, line := range slices.Sorted(slices.Values(lines)) {
		w.line("%s", line)
	}
	w.andMore(len(l.Workloads)-len(lines), "workload")
	w.line("\nIf so many fail at once, the cause is rarely in each team's repo. The next apply that renders all of them " +
		"closes this issue.")
	w.line("\n%s\n%s", FaultMarker(l.Fault), l.Marker)
	return issueTitle(problem.Count(len(l.Workloads), "more workload")+" fail", l.Environment), w.b.String()
}

// WithFeedback adds what an apply tells teams to a description, if there is room.
func WithFeedback(description, line string) string {
	if more := "\n" + line + "\n"; length(description+more) <= delivery.DefaultMaxLength {
		return description + more
	}
	return description
}

// Closing returns the comment that closes an issue of a workload: it renders again, or it is gone.
func Closing(environment string, gone bool) string {
	if gone {
		return fmt.Sprintf("Environment %s no longer reports on this workload.", name(environment))
	}
	return fmt.Sprintf("Environment %s renders this workload again.", name(environment))
}

func (w *writer) andMore(n int, what string) {
	if n > 0 {
		w.line("- … and %s", problem.Count(n, "more "+what))
	}
}

// issueTitle returns a title. Hosts find mentions in titles too, so names stand in code.
func issueTitle(subject, environment string) string {
	title := subject + " to render in " + code(cut(environment, 30))
	if length(title) > githost.MaxIssueTitle {
		return "Workloads fail to render in an environment"
	}
	return title
}

// name formats a name or a line in code.
func name(text string) string { return code(cut(text, maxIssueName)) }

// cut shortens a line to this number of characters, once it is printable, and marks the cut.
func cut(text string, most int) string {
	text = printable.Line(text)
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// block formats a text literally, as a block of code. It ends no block, and no line of it is a marker: a text of one
// team must not pass for the issue of another.
func block(text string) string {
	text = printable.Text(strings.TrimSpace(text))
	if runes := []rune(text); len(runes) > maxIssueText {
		text = string(runes[:maxIssueText-1]) + "…"
	}
	return "```\n" + blockEnds.Replace(text) + "\n```"
}

var blockEnds = strings.NewReplacer("```", "'''", "<!--", "<!- -")
