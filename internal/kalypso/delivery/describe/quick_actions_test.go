package describe_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitlabfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/teamtext"
)

// FuzzTeamsTexts: wherever a description shows a text of a team, the text does not run a quick action of GitLab, does
// not mention a person, and does not become a link to an issue or a merge request.
func FuzzTeamsTexts(f *testing.F) {
	for _, text := range teamtext.Hostile {
		f.Add(text, "team")
		f.Add("team", text)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		for _, length := range []int{0, 400} {
			text := describe.Markdown(changeOf(one, two, length))
			if _, commands := gitlabfake.QuickActions(text); len(commands) > 0 {
				t.Errorf("%q and %q run %q:\n%s", one, two, commands, text)
			}
			if live := references.FindString(outsideCode(text)); live != "" {
				t.Errorf("%q and %q make %q a link:\n%s", one, two, live, text)
			}
		}
	})
}

// references matches texts that hosts turn into links to people, issues, work items and pull requests. Azure DevOps
// mentions people by @<id>.
var references = regexp.MustCompile(`@[\pL\pN_<]|#[0-9]|![0-9]`)

var (
	fences    = regexp.MustCompile("(?ms)^```.*?^```$")
	pages     = regexp.MustCompile(`\]\(<[^<>\n]*>\)`)
	backticks = regexp.MustCompile("`+")
)

// outsideCode returns Markdown without code blocks, code spans and the addresses of links. A code span ends with as
// many backticks as it begins with.
func outsideCode(text string) string {
	var left []string
	for _, line := range strings.Split(fences.ReplaceAllString(text, ""), "\n") {
		for {
			open := backticks.FindStringIndex(line)
			if open == nil {
				break
			}
			rest := line[open[1]:]
			end := -1
			for _, at := range backticks.FindAllStringIndex(rest, -1) {
				if at[1]-at[0] == open[1]-open[0] {
					end = at[1]
					break
				}
			}
			if end < 0 { // not a span, so the rest is text
				break
			}
			left, line = append(left, line[:open[0]]), rest[end:]
		}
		left = append(left, line)
	}
	return pages.ReplaceAllString(strings.Join(left, "\n"), "]()")
}

// changeOf returns a change with the two texts in each place that teams can write.
func changeOf(one, two string, length int) describe.RenderingChange {
	link := func(repo, commit string) string { return "https://gitlab.com/acme/gitops/-/commit/" + commit }
	values := []describe.ConfigKey{{Name: one, Old: &one, New: &two}, {Name: two, Kind: inventory.Added, New: &one}}
	configs := []describe.ConfigChange{
		{Name: one, Targets: 1, ClusterTypes: []string{two}, LabelsChanged: true, Keys: values},
	}
	return describe.RenderingChange{
		Environment: one, At: destination.Destination{Branch: two, Path: one},
		MovedFrom:           destination.Destination{Repo: two, Branch: one, Path: two},
		ReplacedEnvironment: two, Before: one, After: two,
		ClusterTypes: []inventory.ClusterType{
			{Name: one, Kind: inventory.Added, Added: []string{one, two}, Unchanged: []string{two}},
			{Name: two, Removed: []string{one}, Changed: []string{two}},
		},
		Policies: func(string, string) []string { return []string{one, two} },
		Configs:  configs, Secrets: configs,
		Promoted: describe.PromotionChange{Repo: one, From: one, To: two, Explanation: one + "\n- " + two + "\n" + one},
		Sources: []describe.SourceChange{
			{Repo: one, From: one, To: two, Paths: []string{one, two}, Registrations: []string{two}},
		},
		Kept: []string{one}, LeftOut: []string{two},
		Links:     githost.Links{Commit: link, Compare: func(repo, from, _ string) string { return link(repo, from) }},
		MaxLength: length,
	}
}
