package main

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "TestArchitecture writes the tables of packages")

// packageRow is a row of the tables of packages in ARCHITECTURE.md.
var packageRow = regexp.MustCompile("(?m)^\\| `(internal/[^`]+)` \\| (.*) \\|\n")

// The tables of packages have each package but those for tests, with the first sentence of its doc comment.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	const file = "ARCHITECTURE.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	documented, known := packageDocs(t), map[string]bool{}
	want := packageRow.ReplaceAllStringFunc(string(page), func(row string) string {
		name := packageRow.FindStringSubmatch(row)[1]
		if known[name] || documented[name] == "" {
			t.Logf("%s is no package, or has two rows", name)
			return ""
		}
		known[name] = true
		return "| `" + name + "` | " + documented[name] + " |\n"
	})
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		if !known[name] && !strings.HasPrefix(name, "internal/testing/") {
			t.Errorf("%s has no row in %s", name, file)
		}
	}
	switch {
	case want == string(page):
	case !*update:
		t.Errorf("%s differs from the doc comments: run go test . -run TestArchitecture -update", file)
	default:
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// goFiles returns the Go files of each package that are no tests.
func goFiles(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(
		t.Context(), "go", "list", "-f", "{{.ImportPath}}\t{{range .GoFiles}}{{$.Dir}}/{{.}}\t{{end}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSpace(line), "\t")
		files[part[0]] = part[1:]
	}
	return files
}

// TestPackageSizes fails if a package has grown too large to be read as one.
func TestPackageSizes(t *testing.T) {
	t.Parallel()
	const mostFiles, mostLines = 40, 4_500
	for name, files := range goFiles(t) {
		lines := 0
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(content, []byte("\n"))
		}
		if len(files) > mostFiles || lines > mostLines {
			t.Errorf("%s has %d files and %d lines, more than %d or %d: divide it",
				name, len(files), lines, mostFiles, mostLines)
		}
	}
}

// TestMethodCounts fails if a type of delivery has so many methods that it is several things.
func TestMethodCounts(t *testing.T) {
	t.Parallel()
	const most = 20
	counted := 0
	for name, files := range goFiles(t) {
		if !strings.Contains(name, "/internal/kalypso/delivery") {
			continue
		}
		methods := map[string]int{}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
					receiver := strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*")
					methods[receiver]++
					counted++
				}
			}
		}
		for receiver, count := range methods {
			if count > most {
				t.Errorf("%s.%s has %d methods, more than %d", name, receiver, count, most)
			}
		}
	}
	if counted == 0 {
		t.Error("no method was counted")
	}
}

// packageDocs returns the first sentence of each package's doc comment, without the name of the package and the full
// stop.
func packageDocs(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Module.Path}}\t{{.ImportPath}}\t{{.Doc}}",
		"./internal/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		words := strings.SplitN(part[2], " ", 3) // Package x does
		if len(words) < 3 {
			t.Errorf("%s has no doc comment", part[1])
			continue
		}
		docs[strings.TrimPrefix(part[1], part[0]+"/")] = strings.TrimSuffix(words[2], ".")
	}
	return docs
}
