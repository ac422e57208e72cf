package describe_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitlabfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/teamtext"
)

// maxIssueBody is the length of an issue's body that every host accepts, in UTF-16 units.
const maxIssueBody = 65536

// TestIssueOfHostileTexts puts hostile texts of teams into issues. No such text runs a command, mentions a person,
// becomes a link or renders. None exceeds the limits of hosts, and none is taken for the marker of another workload.
func TestIssueOfHostileTexts(t *testing.T) {
	t.Parallel()
	if n := len(teamtext.Hostile); n < 107 {
		t.Errorf("%d texts, want at least 107", n)
	}
	const marker = "<!-- ours -->"
	foreign := githost.IssueMarker("dev", "0", "another")
	for _, hostile := range append(teamtext.Hostile, foreign, "x\n"+foreign+"\nx", strings.Repeat(foreign+"\n", 500)) {
		many := make([]string, 300)
		for i := range many {
			many[i] = hostile
		}
		reason := describe.Reason{Object: hostile, Summary: hostile, Text: hostile}
		title, body := describe.Issue(describe.Failure{
			Environment: hostile, Workload: hostile, Targets: many, File: hostile, Marker: marker, Fault: "f",
			Reasons: []describe.Reason{reason, reason},
		})
		title2, body2 := describe.IssueOfMany(describe.FailureList{
			Environment: hostile, Workloads: many, Marker: marker, Fault: "f",
		})
		for _, text := range []string{title, body, title2, body2, describe.Closing(hostile, true)} {
			if _, commands := gitlabfake.QuickActions(text); len(commands) > 0 {
				t.Errorf("%q runs %q:\n%s", hostile, commands, text)
			}
			outside := strings.NewReplacer(marker, "", describe.FaultMarker("f"), "").Replace(outsideCode(text))
			if live := references.FindString(outside); live != "" || strings.ContainsAny(outside, "<[]$\\") {
				t.Errorf("%q has an effect outside of code: %q in\n%s", hostile, live, outside)
			}
			if printable.Text(text) != text {
				t.Errorf("%q is not escaped:\n%q", hostile, text)
			}
			if githost.HasMarker(text, foreign) {
				t.Errorf("%q is taken for another marker:\n%s", hostile, text)
			}
		}
		for text, most := range map[string]int{
			title: githost.MaxIssueTitle, title2: githost.MaxIssueTitle, body: maxIssueBody, body2: maxIssueBody,
		} {
			if n := len(utf16.Encode([]rune(text))); n > most {
				t.Errorf("%.40q makes a text of %d characters", hostile, n)
			}
			if most == githost.MaxIssueTitle && strings.Contains(text, "\n") {
				t.Errorf("%q divides the title %q", hostile, text)
			}
		}
		for _, text := range []string{body, body2} {
			if !githost.HasMarker(text, marker) || !githost.HasMarker(text, describe.FaultMarker("f")) {
				t.Errorf("%q hides our markers:\n%s", hostile, text)
			}
		}
	}
}

// TestWithFeedback: the line about feedback is added only if the description does not exceed its limit with it.
func TestWithFeedback(t *testing.T) {
	t.Parallel()
	if got := describe.WithFeedback("text\n", "feedback: 1 status"); got != "text\n\nfeedback: 1 status\n" {
		t.Errorf("the description is %q", got)
	}
	long := strings.Repeat("x", delivery.DefaultMaxLength-3)
	if got := describe.WithFeedback(long, "feedback: 1 status"); got != long {
		t.Errorf("the long description has %d characters", len(got))
	}
}
