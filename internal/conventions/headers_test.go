package conventions_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestHeaders checks that no header of an if, a switch or a for changes a variable of the code around it, except err
// and ok: a reader skips headers, and misses the change. A header may declare variables, and a loop may count.
func TestHeaders(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	parsed := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed++
		for _, change := range changesInHeaders(file) {
			t.Errorf("%s: the header changes a variable: give the change a line of its own", files.Position(change.Pos()))
		}
		return nil
	})
	if err != nil || parsed == 0 {
		t.Errorf("%d files parsed: %v", parsed, err)
	}
}

// TestChangesInHeaders: the check finds each form of a change, and no declaration.
func TestChangesInHeaders(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]int{
		"if x = f(); x {}":                        1,
		"if x++; x > 1 {}":                        1,
		"if x += 2; x > 1 {}":                     1,
		"if x, err = f(); x {}":                   1,
		"if a.err = f(); a.err != nil {}":         1,
		"if m[0], ok = f(); ok {}":                1,
		"if f(); x {}":                            1,
		"if a {} else if x = f(); x {}":           1,
		"switch x = f(); x {}":                    1,
		"switch x = f(); y := x.(type) {}":        1,
		"for x = 0; x < 2; x++ {}":                1,
		"for x = range 2 {}":                      1,
		"func() { if x = f(); x {} }()":           1,
		"if x := f(); x {}":                       0,
		"if x, err := f(); err != nil {}":         0,
		"if err = f(); err != nil {}":             0,
		"if _, ok = f(); ok {}":                   0,
		"for x := 0; x < 2; x++ {}":               0,
		"for x, y := 0, 1; x < 2; x, y = y, x {}": 0,
		"for x := range 2 {}":                     0,
		"for err = range f {}":                    0,
		"for x < 2 { x = 1 }":                     0,
		"switch { case x: y = 1 }":                0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc g() { "+statement+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(changesInHeaders(file)); got != want {
			t.Errorf("%s: %d changes, want %d", statement, got, want)
		}
	}
}

// changesInHeaders returns the statements whose headers change a variable other than err and ok, or call a function for
// its effect.
func changesInHeaders(file *ast.File) (all []ast.Node) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.IfStmt:
			if changes(n.Init) {
				all = append(all, n)
			}
		case *ast.SwitchStmt:
			if changes(n.Init) {
				all = append(all, n)
			}
		case *ast.TypeSwitchStmt:
			if changes(n.Init) {
				all = append(all, n)
			}
		case *ast.ForStmt:
			if changes(n.Init) {
				all = append(all, n)
			}
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN && !mayChange(n.Key, n.Value) {
				all = append(all, n)
			}
		}
		return true
	})
	return all
}

func changes(init ast.Stmt) bool {
	switch s := init.(type) {
	case nil:
		return false
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE && !mayChange(s.Lhs...)
	}
	return true // a count, or a call for its effect
}

// mayChange reports whether the variables are only err, ok and the blank one.
func mayChange(variables ...ast.Expr) bool {
	for _, v := range variables {
		name, ok := v.(*ast.Ident)
		if v != nil && (!ok || name.Name != "err" && name.Name != "ok" && name.Name != "_") {
			return false
		}
	}
	return true
}
