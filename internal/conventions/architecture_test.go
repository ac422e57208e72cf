package conventions_test

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
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "TestArchitecture writes the tables of packages")

// packageRow is a row of the tables of packages in ARCHITECTURE.md.
var packageRow = regexp.MustCompile("(?m)^\\| `(internal/[^`]+)` \\| (.*) \\|\n")

// TestArchitecture checks that the tables of packages list each package, except packages for tests, with the first
// sentence of its doc comment.
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
			t.Logf("%s is not a package, or has two rows", name)
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
		t.Errorf("%s differs from the doc comments: run go test ./internal/conventions -run TestArchitecture -update", file)
	default:
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// goFiles returns the Go files of each package, without its tests.
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

// TestPackageSizes checks that no package is too large to be read at one time.
func TestPackageSizes(t *testing.T) {
	t.Parallel()
	const mostFiles, mostLines = 60, 5_000
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

// TestFolders fails if a folder has so many folders with Go files that a reader needs a list of them.
func TestFolders(t *testing.T) {
	t.Parallel()
	const limit = 20
	below := map[string]map[string]bool{} // by folder
	for name := range goFiles(t) {
		for folder := path.Dir(name); strings.Contains(name, "/internal"); name, folder = folder, path.Dir(folder) {
			if below[folder] == nil {
				below[folder] = map[string]bool{}
			}
			below[folder][name] = true
		}
	}
	if len(below) == 0 {
		t.Error("no folder was counted")
	}
	for folder, all := range below {
		if len(all) > limit {
			t.Errorf("%s has %d folders, more than %d: group them", folder, len(all), limit)
		}
	}
}

// TestMethodCounts checks that no type does so much that it should be several types. It counts the methods of a type
// and of the types that it embeds, and the functions of its package whose first parameter has the type.
func TestMethodCounts(t *testing.T) {
	t.Parallel()
	const limit = 40
	counted := 0
	for name, files := range goFiles(t) {
		of := packageTypes{methods: map[string][]string{}, functions: map[string]int{}, embedded: map[string][]string{}}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				of.add(d)
			}
		}
		for typ := range of.methods {
			counted++
			methods := of.methodSet(typ)
			count := len(methods) + of.functions[typ]
			if count > limit {
				t.Errorf("%s.%s has %d methods, and %d functions of its package take it first: more than %d together",
					name, typ, len(methods), of.functions[typ], limit)
			}
		}
	}
	if counted == 0 {
		t.Error("no method was counted")
	}
}

// packageTypes has the methods, functions and embedded types of the types of a package, by the name of the type.
type packageTypes struct {
	methods   map[string][]string
	functions map[string]int // the number of functions whose first parameter, after a context, has the type
	embedded  map[string][]string
}

func (p packageTypes) add(declaration ast.Decl) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		switch {
		case d.Recv != nil:
			typ := typeName(d.Recv.List[0].Type)
			p.methods[typ] = append(p.methods[typ], d.Name.Name)
		default:
			for _, parameter := range d.Type.Params.List {
				if typ := typeName(parameter.Type); typ != "context.Context" {
					p.functions[typ]++
					break
				}
			}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			typ, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			fields, ok := typ.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, field := range fields.Fields.List {
				if len(field.Names) == 0 {
					p.embedded[typ.Name.Name] = append(p.embedded[typ.Name.Name], typeName(field.Type))
				}
			}
		}
	}
}

// methodSet returns the names of the methods of a type, and of the types of its package that it embeds.
func (p packageTypes) methodSet(typ string) []string {
	all := slices.Clone(p.methods[typ])
	for _, embedded := range p.embedded[typ] {
		all = append(all, p.methodSet(embedded)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// typeName returns the name of a type, without the type parameters and the star of a pointer.
func typeName(expression ast.Expr) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(expression), "*"), "[")
	return name
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
