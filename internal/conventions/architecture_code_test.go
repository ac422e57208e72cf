package conventions_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"testing"
)

// shownCode is a function that ARCHITECTURE.md shows: a comment with its file and its name, and its source.
var shownCode = regexp.MustCompile("(?s)<!-- ([^ ]+\\.go): (\\w+) -->\n```go\n.*?```\n")

// TestArchitectureCode checks that ARCHITECTURE.md shows the functions of the main path as they are.
func TestArchitectureCode(t *testing.T) {
	t.Parallel()
	const file = "ARCHITECTURE.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	want := shownCode.ReplaceAllStringFunc(string(page), func(block string) string {
		shown++
		at := shownCode.FindStringSubmatch(block)
		return "<!-- " + at[1] + ": " + at[2] + " -->\n```go\n" + sourceOf(t, at[1], at[2]) + "\n```\n"
	})
	switch {
	case shown < 4:
		t.Errorf("%s shows %d functions: it must show those of a plan, a decision, an apply and a push", file, shown)
	case want == string(page):
	case !*update:
		t.Errorf("%s shows other code: run go test ./internal/conventions -run 'TestArchitecture$|TestArchitectureCode' "+
			"-update", file)
	default:
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// sourceOf returns the source of a function, without its comment.
func sourceOf(t *testing.T, file, name string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, content, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == name {
			return string(content[set.Position(f.Pos()).Offset:set.Position(f.End()).Offset])
		}
	}
	t.Fatalf("%s has no function %s", file, name)
	return ""
}
