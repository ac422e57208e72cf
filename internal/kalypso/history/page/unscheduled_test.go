package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/page"
)

// assignmentsOf decodes the result of the data source kalypso_assignments with some targets that are not placed.
func assignmentsOf(environment string, unscheduled ...any) page.Assignments {
	var a page.Assignments
	data := map[string]any{"name": "", "environment": environment, "unscheduled": unscheduled}
	if err := page.Decode(data, &a); err != nil {
		panic(err)
	}
	return a
}

// notPlaced returns a deployment target that is not placed, with a reason for each policy.
func notPlaced(target string, reasons ...string) any {
	var all []any
	for i, reason := range reasons {
		all = append(all, map[string]any{"policy": []string{"wishlist", "edge"}[i%2], "reason": reason})
	}
	return map[string]any{"deployment_target": target, "workspace": "store", "reasons": all}
}

func shopAssignments() []page.Assignments {
	return []page.Assignments{assignmentsOf("prod", notPlaced("wishlist-web",
		`app is "wish" and must be "wishlist" (did you mean "wishlist"?)`, `site is "cloud" and must be "edge"`))}
}

// TestNotPlaced: the page lists the deployment targets that are not placed, with the nearest policy's reason, and
// counts all of them. Without assignments, it does not say that all are placed.
func TestNotPlaced(t *testing.T) {
	t.Parallel()
	histories, states := shop()
	var many []any
	for i := range 600 {
		many = append(many, notPlaced(fmt.Sprint("target-", i)))
	}
	for name, test := range map[string]struct {
		assignments []page.Assignments
		has, lacks  []string
	}{
		"not known": {nil, nil, []string{"Not placed", "A policy places"}},
		"none":      {[]page.Assignments{assignmentsOf("prod")}, []string{"A policy places each deployment target."}, nil},
		"one": {shopAssignments(), []string{"<th scope=\"row\">wishlist-web</th><td>prod</td>",
			"did you mean &#34;wishlist&#34;?", "wishlist and 1 more", `Not placed <span class="count failed">1</span>`},
			[]string{"A policy places"}},
		"hostile": {[]page.Assignments{assignmentsOf("<b>", notPlaced("<script>", "<img src=x>"))},
			[]string{"&lt;script&gt;", "&lt;b&gt;", "&lt;img"}, []string{"<img"}},
		"too many": {[]page.Assignments{assignmentsOf("dev", many...)}, []string{"100 more are not shown", ">600<"}, nil},
	} {
		html, err := page.HTML(page.Data{Histories: histories, States: states, Assignments: test.assignments})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range test.has {
			if !strings.Contains(string(html), text) {
				t.Errorf("%s: the page does not contain %q", name, text)
			}
		}
		for _, text := range test.lacks {
			if strings.Contains(string(html), text) {
				t.Errorf("%s: the page contains %q", name, text)
			}
		}
	}
}
