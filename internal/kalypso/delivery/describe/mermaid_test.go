package describe_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

const root = "../../../.."

var fenced = regexp.MustCompile("(?ms)^```mermaid\n(.*?)^```$")

// graphsOf returns the Mermaid graphs in a Markdown text.
func graphsOf(text string) []string {
	var graphs []string
	for _, m := range fenced.FindAllStringSubmatch(text, -1) {
		graphs = append(graphs, m[1])
	}
	return graphs
}

// parse lets Mermaid's own parser, which make installs, parse graphs. It returns an error text for each graph, or "" if
// the graph is valid.
func parse(t *testing.T, graphs []string) []string {
	t.Helper()
	node := programs.Program{Name: "Node.js", Add: "apt-get install npm"}.Find(t, "node")
	folder := filepath.Join(root, "bin", "mermaid")
	programs.Program{Name: "Mermaid", Add: "make mermaid"}.Find(t, filepath.Join(folder, "node_modules", "mermaid"))
	input, err := json.Marshal(graphs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, filepath.Join(folder, "parse.mjs"))
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(input)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var problems []string
	if err := json.Unmarshal(out, &problems); err != nil || len(problems) != len(graphs) {
		t.Fatalf("the parser prints %s (%v)", out, err)
	}
	return problems
}

// TestMermaid: Mermaid parses each graph in descriptions, whatever the names in it, and each graph in the
// documentation. The first graph is invalid, which proves that the parser finds errors.
func TestMermaid(t *testing.T) {
	t.Parallel()
	graphs := []string{"flowchart LR\n  a -->\n"}
	for _, name := range []string{
		"end", "graph", "a|b", "a\"b", `a\b`, "#35;", "`a`", "a;b", "<b>&amp;", "%% comment",
		"@{ shape: x }", "o", "x", "--> b", "\x1b[2J\u202e", "ü😀", "class",
	} {
		graphs = append(
			graphs,
			graphsOf(describe.Markdown(describe.RenderingChange{Environment: "dev", ClusterTypes: []inventory.ClusterType{
				{
					Name:      name,
					Added:     []string{name},
					Removed:   []string{"r-" + name},
					Changed:   []string{"c-" + name},
					Unchanged: []string{"u-" + name},
				},
			}}))...)
	}
	many40, dense := changedTypes(40, 40), changedTypes(20, 0)
	for i := range dense {
		dense[i].Added = numbered("t", 20)
	}
	for _, clusterTypes := range [][]inventory.ClusterType{many40, dense, changedTypes(1, 39)} {
		found := graphsOf(describe.Markdown(describe.RenderingChange{Environment: "dev", ClusterTypes: clusterTypes}))
		if len(found) != 1 {
			t.Errorf("%d graphs are drawn for %d cluster types", len(found), len(clusterTypes))
		}
		graphs = append(graphs, found...)
	}
	documents := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "node_modules"}, entry.Name()):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".md") && !strings.HasSuffix(path, ".md.tmpl"):
			return nil
		}
		text, err := os.ReadFile(path)
		found := graphsOf(string(text))
		documents += len(found)
		if strings.Count(string(text), "\n```mermaid\n") != len(found) {
			t.Errorf("%s has a graph without an end", path)
		}
		graphs = append(graphs, found...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if documents < 8 { // in testdata, ARCHITECTURE.md and README.md
		t.Errorf("only %d documents have a graph", documents)
	}
	problems := parse(t, graphs)
	if problems[0] == "" {
		t.Error("the parser accepts the invalid graph")
	}
	for i, problem := range problems[1:] {
		if problem != "" {
			t.Errorf("%s\n%s", problem, graphs[i+1])
		}
	}
}
