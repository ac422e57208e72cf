package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/page"
)

// TestComparison: the page shows a comparison as a table of differences. Those in the most folders come first. Texts of
// teams are escaped, and a long table is cut.
func TestComparison(t *testing.T) {
	var c page.Comparison
	decode(t, `{
		"left": {"repo": "https://acme.io/gitops", "branch": "stage"},
		"right": {"repo": "https://acme.io/gitops", "branch": "prod"},
		"promoted": {"left": "aaaaaaaaaa", "right": "bbbbbbbbbb", "commits": 2},
		"targets": {"left": ["new"], "right": []}, "placements": {"web": {"left": ["large"], "right": ["small"]}},
		"configs": {
			"web": {"large": {"A_FEW": {"left": "x", "right": null}, "MANY": {"left": "<script>", "right": "y\u202e"}}},
			"app": {"large": {"MANY": {"left": "<script>", "right": "y\u202e"}}}
		},
		"files": {"reconciler.yaml": ["large/web"]}}`, &c)
	equal := page.Comparison{Name: "dev and stage"}
	html, err := page.HTML(page.Data{Comparisons: []page.Comparison{c, equal}})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(html), "\n", "")
	for _, row := range []string{
		"<h3>stage and prod</h3>", `<th scope="col">stage</th><th scope="col">prod</th>`,
		`promoted commit</th><td class="wide">aaaaaaa</td><td class="wide">bbbbbbb</td><td class="wide">2 commits apart`,
		`deployment target</th><td class="wide">new</td><td class="wide">–</td>`,
		`cluster types of web</th><td class="wide">large</td><td class="wide">small</td>`,
		`MANY</th><td class="wide">&lt;script&gt;</td><td class="wide">y\u202e</td><td class="wide">large/app, large/web`,
		`A_FEW</th><td class="wide">x</td><td class="wide">–</td><td class="wide">large/web`,
		`file reconciler.yaml</th><td class="wide">differs</td><td class="wide">differs</td><td class="wide">large/web`,
		"<h3>dev and stage</h3>", "No differences.",
	} {
		at := strings.Index(text, row)
		if at < 0 {
			t.Fatalf("no %q, in this order:\n%s", row, text)
		}
		text = text[at:]
	}
	for i := range 600 {
		c.Targets.Right = append(c.Targets.Right, fmt.Sprint("target", i))
	}
	html, err = page.HTML(page.Data{Comparisons: []page.Comparison{c}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(html), "<p>106 more differences are not shown.</p>") {
		t.Error("the page does not say how many differences it leaves out")
	}
}
