package objects

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// TestClusterScopedEqualsKustomize compares the table with the kinds that kustomize knows, in all their versions.
func TestClusterScopedEqualsKustomize(t *testing.T) {
	want, known := map[string]string{}, kindsOfKustomize(t)
	for _, kind := range known {
		group, _, ok := strings.Cut(kind.APIVersion, "/")
		if !ok {
			group = ""
		}
		if openapi.IsCertainlyClusterScoped(kind) {
			want[kind.Kind] = group
		} else if isClusterScoped([]byte(group), []byte(kind.Kind)) {
			t.Errorf("%s of %s has namespaces", kind.Kind, kind.APIVersion)
		}
	}
	if diff := cmp.Diff(want, clusterScoped); diff != "" {
		t.Errorf("kustomize knows other kinds (-kustomize +table):\n%s", diff)
	}
	if len(known) < 80 {
		t.Errorf("only %d kinds are known", len(known))
	}
}

// kindsOfKustomize returns the keys of the map in kustomize's library that says which kinds have namespaces. The
// library
// exports only questions about one kind.
func kindsOfKustomize(t *testing.T) (kinds []yaml.TypeMeta) {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		"sigs.k8s.io/kustomize/kyaml").Output()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(strings.TrimSpace(string(dir)), "openapi", "openapi.go")
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	object := file.Scope.Lookup("precomputedIsNamespaceScoped")
	if object == nil {
		t.Fatalf("%s has no precomputedIsNamespaceScoped", path)
	}
	ast.Inspect(object.Decl.(ast.Node), func(n ast.Node) bool { //nolint:forcetypeassert // a declaration is a node
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, ok := pair.Key.(*ast.CompositeLit)
		if !ok {
			return true
		}
		var kind yaml.TypeMeta
		for _, element := range key.Elts {
			field := element.(*ast.KeyValueExpr)                             //nolint:forcetypeassert // it compiles
			value, err := strconv.Unquote(field.Value.(*ast.BasicLit).Value) //nolint:forcetypeassert // it compiles
			if err != nil {
				t.Fatal(err)
			}
			if field.Key.(*ast.Ident).Name == "Kind" { //nolint:forcetypeassert // it compiles
				kind.Kind = value
			} else {
				kind.APIVersion = value
			}
		}
		kinds = append(kinds, kind)
		return false
	})
	return kinds
}
