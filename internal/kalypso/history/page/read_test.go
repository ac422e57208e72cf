package page_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/page"
)

// node is an element of a page, or a whole page.
type node struct{ *html.Node }

// read parses the page as a browser does.
func read(t *testing.T, histories []page.History, states []page.DeploymentState) node {
	t.Helper()
	text, err := htmlOf(histories, states)
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return node{root}
}

// all returns the elements with a name below n. If it gets an attribute as name=value, it returns only elements that
// have the attribute.
func (n node) all(name string, attribute ...string) []node {
	var found []node
	for d := range n.Descendants() {
		if d.Type != html.ElementNode || d.Data != name {
			continue
		}
		fits := len(attribute) == 0
		for _, a := range d.Attr {
			fits = fits || a.Key+"="+a.Val == attribute[0]
		}
		if fits {
			found = append(found, node{d})
		}
	}
	return found
}

// text returns the text in n with single spaces. If it gets a name, it returns the texts of the elements with this name
// below n.
func (n node) text(name ...string) string {
	if len(name) > 0 {
		var texts []string
		for _, e := range n.all(name[0]) {
			texts = append(texts, e.text())
		}
		return strings.Join(texts, ", ")
	}
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// rows returns the text of the cells of each row of a table, separated by bars.
func (n node) rows() []string {
	var rows []string
	for _, r := range n.all("tr") {
		var cells []string
		for c := range r.ChildNodes() {
			if c.Type == html.ElementNode {
				cells = append(cells, node{c}.text())
			}
		}
		rows = append(rows, strings.Join(cells, " | "))
	}
	return rows
}

// section returns the section with an ID, such as "wrong".
func (n node) section(id string) node { return n.all("section", "aria-labelledby="+id)[0] }

// cells returns the cells of a row of the fleet.
func (n node) cells(row string) []node {
	for _, r := range n.all("table", "class=fleet")[0].all("tr") {
		if heads := r.all("th", "scope=row"); len(heads) == 1 && heads[0].text() == row {
			return r.all("td")
		}
	}
	return nil
}

// htmlOf returns the HTML of the page of the data.
func htmlOf(
	histories []page.History, states []page.DeploymentState, promotions ...page.Promotion,
) ([]byte, error) {
	return page.HTML(page.Data{Histories: histories, States: states, Promotions: promotions})
}
