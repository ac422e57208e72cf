package acc

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	yamlreader "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
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
		if labels := g.FluxLabels(path); labels != nil {
			text = labelDocuments(r.T, text, labels)
		}
		r.Write(filepath.Join("fleets", g.Name, path), text)
	}
	return GoldenFleet{Environment: g.Summary.Environment, Promoted: g.Promoted(), Existing: len(g.Existing) > 0}
}

// labelDocuments adds labels to every document of a YAML text.
func labelDocuments(t *testing.T, text string, labels map[string]string) string {
	t.Helper()
	var all []string
	for documents := yamlreader.NewYAMLReader(bufio.NewReader(strings.NewReader(text))); ; {
		data, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return strings.Join(all, "---\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		var document unstructured.Unstructured
		if err := yaml.Unmarshal(data, &document.Object); err != nil {
			t.Fatal(err)
		}
		if document.Object != nil {
			all := map[string]string{}
			maps.Copy(all, document.GetLabels())
			maps.Copy(all, labels)
			document.SetLabels(all)
		}
		labelled, err := yaml.Marshal(document.Object)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(labelled))
	}
}
