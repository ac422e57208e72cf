package acc

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// GoldenFleet contains the inputs of a root module for a golden fleet, in addition to the documents.
type GoldenFleet struct {
	Environment string `json:"environment"`
	Promoted    string `json:"promoted_commit"` // may be empty
	Existing    bool   `json:"existing"`        // whether the branch contains files before the apply
	Preview     string `json:"preview"`
}

// AddGolden writes the documents of a golden fleet into a module. Its Workloads get the labels that Flux added in the
// operator's cluster.
func AddGolden(g *golden.Fleet, r *Root) GoldenFleet {
	r.T.Helper()
	for path, text := range g.Objects {
		if strings.HasPrefix(path, golden.Workloads) {
			text = labelled(r.T, g, path)
		}
		r.Write(filepath.Join("fleets", g.Name, path), text)
	}
	return GoldenFleet{Environment: g.Summary.Environment, Promoted: g.Promoted(), Existing: len(g.Existing) > 0}
}

// labelled returns the documents of a file with the labels that Flux added.
func labelled(t *testing.T, g *golden.Fleet, path string) (text string) {
	t.Helper()
	objects, err := g.Parse(path)
	must.Succeed(t, err)
	for _, o := range objects {
		document, err := fleetyaml.Marshal(o)
		must.Succeed(t, err)
		text += "---\n" + document
	}
	return text
}
