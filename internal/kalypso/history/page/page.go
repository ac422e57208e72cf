// Package page writes one HTML file with the versions that run in all environments, and with their deliveries. It is a
// pure function of the data of kalypso_deployment_history, kalypso_deployment_state, kalypso_promotion,
// kalypso_comparison and kalypso_assignments, and does not read the clock.
//
// The file makes no request, which its Content-Security-Policy enforces, and reads without JavaScript. The script adds
// filters, the reader's time zone and arrow keys.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"sync"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

var (
	//go:embed page.html
	markup string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// document is parsed when it is first used, because an apply starts the provider four times, and usually writes no
// page.
var document = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"class": class, "clusters": clusters}).Parse(markup))
})

// policy is the Content-Security-Policy. It allows only the page's own style, script and icon.
var policy = "default-src 'none'; style-src '" + hash(style) + "'; script-src '" + hash(script) +
	"'; img-src data:; base-uri 'none'; form-action 'none'"

// hash returns the hash of an inline style or script, as a Content-Security-Policy names it.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// view is the data of the template.
type view struct {
	Policy       string
	Style        template.CSS
	Script       template.JS
	AsOf         time.Time
	Title        string
	Environments []*environment
	Wrong        issues
	Progressing  issues
	Assigned     bool // Unscheduled is known
	Unscheduled  []unscheduled
	NotPlaced    int // deployment targets, also those that Unscheduled leaves out
	Matrix       matrix
	Differences  []differences
	Axis         []tick
	Kinds        []string // of deliveries, for the legend
	Notes        []string
}

// Data contains the results of the data sources that a page shows.
type Data struct {
	Histories   []History
	States      []DeploymentState
	Promotions  []Promotion // which commits wait, and for what
	Comparisons []Comparison
	Assignments []Assignments // which deployment targets are not placed, and why
}

// HTML returns the page. The environments come in the order of the histories, then of the states without one. It is an
// error if two histories or two states have the same environment.
func HTML(d Data) ([]byte, error) {
	environments, err := newEnvironments(d.Histories, d.States, d.Promotions)
	if err != nil {
		return nil, err
	}
	v := view{
		Policy: policy, Style: template.CSS(style), Script: template.JS(script), //nolint:gosec // files of this package
		Environments: environments, AsOf: asOf(d.Histories, d.States),
		Kinds: []string{"promotion", "change", "rollback", "first", "failed"},
	}
	for i := range d.Comparisons {
		v.Differences = append(v.Differences, newDifferences(&d.Comparisons[i]))
	}
	v.Assigned = len(d.Assignments) > 0
	v.Unscheduled, v.NotPlaced = unscheduledTargets(d.Assignments)
	v.describe()
	var b bytes.Buffer
	if err := document().Execute(&b, &v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Columns returns the number of the matrix's columns.
func (v *view) Columns() int { return len(v.Environments) + 1 }

// Left returns the number of deployment targets that are not placed, and not listed.
func (v *view) Left() int { return v.NotPlaced - len(v.Unscheduled) }

// describe fills in the environments' parts of the page.
func (v *view) describe() {
	for _, e := range v.Environments {
		e.describe(v.AsOf)
	}
	v.Axis = axis(v.Environments)
	v.Matrix = newMatrix(v.Environments)
	v.Wrong, v.Progressing = findIssues(v.Environments)
	v.Title = "What runs where"
	if len(v.Wrong) > 0 {
		v.Title = problem.Count(len(v.Wrong), "problem") + " – " + v.Title
	}
	v.Notes = notes(v.Environments)
}
