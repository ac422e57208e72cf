package delivery

import (
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Feedback says where teams hear of their workloads.
type Feedback struct {
	Context string       // of the statuses; "": none are set
	Issues  *IssueTarget // nil: none are opened
	// Unknown says that a part is not known yet.
	Unknown bool
}

// IssueTarget says where issues are opened.
type IssueTarget struct {
	Repo   string // URL; "": the repo of each workload
	Labels []string
}

const maxLabel = 50

// validateFeedback reports feedback that no host takes, or that no apply gives.
func (a *Arguments) validateFeedback() (ps problem.Problems) {
	f := a.Feedback
	if f == nil {
		return nil
	}
	add := func(summary, detail string, at ...string) {
		ps = append(ps, problem.At(summary, detail, append([]string{"feedback"}, at...)...))
	}
	if a.Strategy == destination.None {
		add("Feedback needs a delivery", "With delivery.strategy = \"none\", nothing is delivered, so teams hear nothing. "+
			"Remove feedback, or set another strategy.")
	}
	own := a.Environment + " environment"
	switch context := f.Context; {
	case unknown.Is(context):
	case context != "" && strings.TrimSpace(context) == "":
		add("Invalid context", "The context is blank. Write a name, such as \"kalypso/"+a.Environment+"\".",
			"status", "context")
	case len([]rune(context)) > status.MaxContext:
		add("Invalid context", fmt.Sprintf("A context has at most %d characters.", status.MaxContext), "status", "context")
	case !unknown.Is(a.Environment) && strings.EqualFold(context, own):
		add("The context is the environment's own", fmt.Sprintf("Promotions read the status %q as the state of the whole "+
			"environment. Feedback for teams needs another context, such as \"kalypso/%s\".", own, a.Environment),
			"status", "context")
	}
	if f.Issues == nil {
		return ps
	}
	for _, label := range f.Issues.Labels {
		if unknown.Is(label) {
			continue
		}
		if n := len([]rune(label)); n == 0 || n > maxLabel || strings.TrimSpace(label) != label ||
			strings.ContainsAny(label, ",\n") {
			add("Invalid label", fmt.Sprintf("%q is no label that all hosts take: it has 1 to %d characters on one line, no "+
				"comma, and no space at its ends.", label, maxLabel), "issues", "labels")
		}
	}
	return ps
}
