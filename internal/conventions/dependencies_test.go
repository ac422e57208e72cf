package conventions_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// goPackage is a package as go list prints it.
type goPackage struct {
	ImportPath string
	Imports    []string
	Module     *struct {
		Path string
		Main bool
	}
}

func (p *goPackage) own() bool { return p.Module != nil && p.Module.Main }

// module returns the path of the package's module, or "" for the standard library and our own module.
func (p *goPackage) module() string {
	if p.Module == nil || p.Module.Main {
		return ""
	}
	return p.Module.Path
}

// listPackages returns the packages on which others depend, as they are built for Linux.
func listPackages(t *testing.T, args ...string) map[string]*goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go",
		append([]string{"list", "-deps", "-json=ImportPath,Imports,Module"}, args...)...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*goPackage{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = &p
	}
}

// reachable returns how many packages the provider consists of, without the packages of a module and what only they
// import.
func reachable(all map[string]*goPackage, without string) int {
	const root = "github.com/terraform-kalypso/terraform-provider-kalypso"
	seen, next := map[string]bool{}, []string{root}
	for len(next) > 0 {
		p := all[next[len(next)-1]]
		next = next[:len(next)-1]
		if p == nil || seen[p.ImportPath] || without != "" && p.module() == without {
			continue
		}
		seen[p.ImportPath] = true
		next = append(next, p.Imports...)
	}
	return len(seen)
}

// dependencyRow is a row of the table of modules in CONTRIBUTING.md.
var dependencyRow = regexp.MustCompile("(?m)^\\| `([^`/]+[.][^`]+)` \\| ([0-9]+) \\| (.*) \\|\n")

// TestDependencies checks that the table of modules lists each module that our packages import, with the number of
// packages that the provider would not consist of without it. It also checks that the provider's module graph contains
// no module that the tests alone need.
func TestDependencies(t *testing.T) {
	t.Parallel()
	const file = "CONTRIBUTING.md"
	all := listPackages(t, ".")
	modules, total := map[string]int{}, reachable(all, "")
	for _, p := range all {
		for _, path := range p.Imports {
			if imported := all[path]; p.own() && imported != nil && imported.module() != "" {
				modules[imported.module()] = 0
			}
		}
	}
	for m := range modules {
		modules[m] = total - reachable(all, m)
	}

	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	uses := map[string]string{}
	for _, row := range dependencyRow.FindAllStringSubmatch(string(page), -1) {
		uses[row[1]] = row[3]
	}
	var table strings.Builder
	for _, m := range slices.SortedFunc(maps.Keys(modules), func(a, b string) int {
		return cmp.Or(modules[b]-modules[a], strings.Compare(a, b))
	}) {
		if uses[m] == "" {
			t.Errorf("%s lacks a row that says what %s is for", file, m)
		}
		fmt.Fprintf(&table, "| `%s` | %d | %s |\n", m, modules[m], uses[m])
	}
	first := true
	want := dependencyRow.ReplaceAllStringFunc(string(page), func(string) string {
		if !first {
			return ""
		}
		first = false
		return table.String()
	})
	switch {
	case want == string(page):
	case !*update:
		t.Errorf("%s is out of date: run go test ./internal/conventions -run TestDependencies -update", file)
	default:
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	built := map[string]bool{}
	for _, p := range all {
		built[p.module()] = true
	}
	for _, p := range listPackages(t, "-test", "./...") {
		if m := p.module(); !built[m] {
			t.Errorf("only tests need %s: move what needs it to a module in tools/", m)
			built[m] = true
		}
	}
}
