package main

import (
	"flag"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "TestArchitecture writes the table of packages")

// packageRow is a row of the table of packages in ARCHITECTURE.md.
var packageRow = regexp.MustCompile("(?m)^\\| `(internal/[^`]+)` \\| (.*) \\|\n")

// The table of packages has each package, and the first sentence of its doc comment.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	const file = "ARCHITECTURE.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := packageRow.FindAllStringSubmatch(string(page), -1)
	if len(rows) == 0 {
		t.Fatal("there is no table")
	}
	documented := packageDocs(t)
	var table strings.Builder
	add := func(name, does string) { table.WriteString("| `" + name + "` | " + does + " |\n") }
	known := map[string]bool{}
	for _, row := range rows {
		name, does := row[1], row[2]
		known[name] = true
		want, there := documented[name]
		switch {
		case !there:
			t.Logf("%s is no package", name)
			continue
		case does != want:
			t.Logf("%s\nhas %s\nand its doc comment says\n    %s", name, does, want)
		}
		add(name, want)
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		if !known[name] {
			t.Logf("%s is not in the table", name)
			add(name, documented[name])
		}
	}
	first := packageRow.FindStringIndex(string(page))[0]
	want := string(page[:first]) + table.String() + packageRow.ReplaceAllString(string(page[first:]), "")
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatalf("%s differs from the doc comments: run go test . -run TestArchitecture -update", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A package is small enough to be read: it has at most 40 files that are no tests.
func TestPackageSizes(t *testing.T) {
	t.Parallel()
	const most = 40
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}}\t{{len .GoFiles}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if files, err := strconv.Atoi(count); err != nil || files > most {
			t.Errorf("%s has %s files, more than %d (%v): divide it", name, count, most, err)
		}
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
