package acc

import (
	"bufio"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

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
	promoted, err := g.Promoted()
	if err != nil {
		r.T.Fatal(err)
	}
	for path, text := range g.Objects {
		if labels := g.FluxLabels(path); labels != nil {
			text = labelDocuments(r.T, text, labels)
		}
		r.Write(filepath.Join("fleets", g.Name, path), text)
	}
	return GoldenFleet{Environment: g.Summary.Environment, Promoted: promoted, Existing: len(g.Existing) > 0}
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
		var document map[string]any
		if err := yaml.Unmarshal(data, &document); err != nil {
			t.Fatal(err)
		}
		if metadata, ok := document["metadata"].(map[string]any); ok {
			given, ok := metadata["labels"].(map[string]any)
			if !ok {
				given = map[string]any{}
			}
			for label, value := range labels {
				given[label] = value
			}
			metadata["labels"] = given
		}
		labelled, err := yaml.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(labelled))
	}
}
