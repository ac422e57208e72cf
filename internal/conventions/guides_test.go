package conventions_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// guideTasks matches the first line of a guide of Start and Operate. "all" means all tasks.
	guideTasks = regexp.MustCompile(`(?m)^# .*\n\n\*\*Who:\*\* .+ · \*\*Repo:\*\* .+ · \*\*\[Tasks\]\(` +
		regexp.QuoteMeta(registryURL) + `#tasks\):\*\* (.+)\n\n`)
	guideSection = regexp.MustCompile(`/guides/([a-z-]+)#`)
)

// TestTasks checks that each guide of Start and Operate begins with its readers, their repo and its tasks, and that the
// index has a section of such a guide for each of the ten tasks.
func TestTasks(t *testing.T) {
	t.Parallel()
	guides, err := filepath.Glob("templates/guides/*")
	if err != nil {
		t.Fatal(err)
	}
	tasks := map[string][]string{} // by guide
	for _, file := range guides {
		text := string(readFile(t, file))
		if strings.Contains(text, "\nsubcategory: \"Reference\"\n") {
			continue
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		if found := guideTasks.FindStringSubmatch(text); found != nil {
			tasks[name] = strings.Split(found[1], "; ")
		} else {
			t.Errorf("%s does not begin with the line Who, Repo and Tasks", file)
		}
	}
	_, table, _ := strings.Cut(string(readFile(t, "templates/index.md.tmpl")), "\n## Tasks\n")
	table, _, _ = strings.Cut(table, "\n## ")
	known := []string{"all"}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 || strings.HasPrefix(line, "| task ") {
			continue
		}
		task := strings.TrimPrefix(cells[0], "| ")
		known = append(known, task)
		if section := guideSection.FindStringSubmatch(cells[3]); section == nil || !slices.Contains(tasks[section[1]], task) {
			t.Errorf("the index links the task %q first to no section of a guide that names it", task)
		}
	}
	if len(known) != 11 {
		t.Errorf("the index has the tasks %q, want ten", known[1:])
	}
	for guide, all := range tasks {
		for _, task := range all {
			if !slices.Contains(known, task) {
				t.Errorf("%s names the task %q, which the index does not have", guide, task)
			}
		}
	}
}

// TestModulesToCopy checks that each module in the examples that uses the provider names its source, so that people can
// copy it: without it, Terraform looks for hashicorp/kalypso. The renderings are parts that guides add to a root.
func TestModulesToCopy(t *testing.T) {
	t.Parallel()
	uses := regexp.MustCompile(`(data|resource) "kalypso_|provider "kalypso"|provider::kalypso::`)
	var checked int
	err := filepath.WalkDir("examples", func(path string, _ fs.DirEntry, err error) error {
		folder := filepath.Dir(path)
		if err != nil || filepath.Base(path) != "main.tf" || strings.HasPrefix(folder, "examples/renderings/") {
			return err
		}
		files, err := filepath.Glob(filepath.Join(folder, "*.tf"))
		var text string
		for _, file := range files {
			text += string(readFile(t, file))
		}
		if !uses.MatchString(text) {
			return err
		}
		checked++
		if !strings.Contains(text, "required_providers") {
			t.Errorf("%s does not name the provider in required_providers", folder)
		}
		return err
	})
	if err != nil || checked < 10 {
		t.Errorf("%d modules: %v", checked, err)
	}
}

// TestPictures checks that the pictures in examples/pictures were made from the present pages: scripts/pictures.sh
// makes each picture from its page, and writes the hashes of both. A guide shows each picture, with a text for people
// who can't see it.
func TestPictures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("examples/pictures/*.*")
	if err != nil || len(files) < 3 {
		t.Fatalf("the pictures are %v: %v", files, err)
	}
	guides, err := filepath.Glob("templates/guides/*")
	if err != nil {
		t.Fatal(err)
	}
	var texts strings.Builder
	for _, guide := range guides {
		texts.Write(readFile(t, guide))
	}
	var sums strings.Builder
	for _, file := range files {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(readFile(t, file)), filepath.Base(file))
		if filepath.Ext(file) != ".png" {
			continue
		}
		before, _, shown := strings.Cut(texts.String(), "/"+filepath.ToSlash(file)+")")
		if alt := before[strings.LastIndex(before, "![")+1:]; !shown || len(strings.Fields(alt)) < 10 {
			t.Errorf("no guide shows %s with a text of ten words", file)
		}
	}
	if sums.String() != string(readFile(t, "examples/pictures/SHA256SUMS")) {
		t.Errorf("the pictures are older than their pages: run scripts/pictures.sh")
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
