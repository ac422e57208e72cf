package conventions_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	registryURL = "https://registry.terraform.io/providers/terraform-kalypso/kalypso/latest/docs"
	repoName    = "terraform-kalypso/terraform-provider-kalypso"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	repoURL      = regexp.MustCompile(
		`^https://(?:github\.com/` + repoName + `/(?:blob|tree)|raw\.githubusercontent\.com/` + repoName + `)/main/`)
	codeFence   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	headingLine = regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchor      = regexp.MustCompile(`<a (?:id|name)="([^"]*)"></a>`)
	notOfAnchor = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// TestLinks checks that each link within the repo leads to an existing file, and its fragment to a heading in the file.
// It reads Markdown files and the descriptions in Go. Links between pages of docs/ work either in this repo, or in the
// Registry, which does not resolve relative links. scripts/relative-links.sh chooses one of them for all links.
func TestLinks(t *testing.T) {
	t.Parallel()
	links, relative, inRegistry := 0, 0, 0
	for _, file := range linkingFiles(t) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{string(content)}
		if path.Ext(file) == ".go" {
			texts = literals(t, file)
		}
		for _, text := range texts {
			for _, link := range markdownLink.FindAllStringSubmatch(codeFence.ReplaceAllString(text, ""), -1) {
				to, fragment, is := target(file, link[1])
				if !is {
					continue
				}
				links++
				if strings.HasPrefix(file, "templates/") && !strings.Contains(link[1], ":") && !strings.HasPrefix(link[1], "#") {
					t.Errorf("%s links to %s, which does not work in the Registry: begin it with %s", file, link[1], registryURL)
				}
				if generated := strings.HasPrefix(file, "docs/"); generated && strings.HasPrefix(link[1], registryURL) {
					inRegistry++
				} else if generated && !strings.HasPrefix(link[1], "#") && strings.HasPrefix(to, "docs/") {
					relative++
				}
				page, err := linkedText(file, to)
				if err != nil {
					t.Errorf("%s links to %s: %v", file, link[1], err)
				} else if fragment != "" && !anchors(page)[fragment] {
					t.Errorf("%s links to %s, and %s has no such heading", file, link[1], to)
				}
			}
		}
	}
	if links < 300 {
		t.Errorf("only %d links", links)
	}
	if relative > 0 && inRegistry > 0 {
		t.Errorf("docs/ has %d relative links between pages and %d to the Registry", relative, inRegistry)
	}
}

// target returns the file in the repo that a link leads to, and the fragment. is reports whether the link leads to a
// file in the repo.
func target(from, link string) (file, fragment string, is bool) {
	to, fragment, _ := strings.Cut(strings.ReplaceAll(link, `\`, ""), "#")
	page, isPage := strings.CutPrefix(to, registryURL)
	switch {
	case to == "":
		if page, isTemplate := strings.CutPrefix(from, "templates/"); isTemplate {
			return "docs/" + strings.TrimSuffix(page, ".tmpl"), fragment, true
		}
		return from, fragment, true
	case isPage && page == "":
		return "docs/index.md", fragment, true
	case isPage:
		return "docs" + page + ".md", fragment, true
	case repoURL.MatchString(to):
		return repoURL.ReplaceAllString(to, ""), fragment, true
	case strings.Contains(to, ":"), path.Ext(from) == ".go": // https://, mailto:, a format of Go
		return "", "", false
	}
	return path.Join(path.Dir(from), to), fragment, true
}

// linkedText returns the text of a linked file, or "" for a folder. A page of docs/ may be older than its source in
// templates/ until make docs generates it, so a link from outside of docs/ to a guide is checked in its source. For any
// other page it adds the source to the generated text, which also has the schema.
func linkedText(from, file string) (string, error) {
	name, isPage := strings.CutPrefix(file, "docs/")
	if !isPage || strings.HasPrefix(from, "docs/") || !strings.HasPrefix(name, "guides/") {
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			return "", err
		}
		text, err := os.ReadFile(file)
		if source, e := os.ReadFile("templates/" + name + ".tmpl"); e == nil && isPage {
			text = append(text, source...)
		}
		return string(text), err
	}
	text, err := os.ReadFile("templates/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = os.ReadFile("templates/" + name + ".tmpl")
	}
	return string(text), err
}

// anchors returns the anchors of a page.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for _, h := range headingLine.FindAllStringSubmatch(page, -1) {
		all[strings.ReplaceAll(notOfAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	for _, a := range anchor.FindAllStringSubmatch(page, -1) {
		all[a[1]] = true
	}
	return all
}

// linkingFiles returns the files whose links people follow.
func linkingFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "dist", "samples"}, name):
			return filepath.SkipDir
		case entry.IsDir() || strings.HasSuffix(name, "_test.go") || name == "CHANGELOG.md": // which links to former files
			return nil
		case slices.Contains([]string{".md", ".go"}, path.Ext(name)) || strings.HasSuffix(name, ".md.tmpl"):
			files = append(files, filepath.ToSlash(file))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Bounds of the guides. The reference of a template's data is longer than a guide.
const (
	mostGuides, mostGuideWords   = 20, 27_000
	guideWords, longestReference = 1_500, 2_700
)

// TestGuides checks that guides are few and short, that each belongs to a group, and that the lists link to it.
func TestGuides(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("templates/guides/*")
	if err != nil {
		t.Fatal(err)
	}
	group := regexp.MustCompile(`(?m)^subcategory: "(Start|Operate|Reference)"$`)
	all := 0
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, limit := string(content), guideWords
		if name == "rules" {
			limit = longestReference
		}
		words := len(strings.Fields(text))
		all += words
		if words > limit {
			t.Errorf("%s has %d words, and should have at most %d", file, words, limit)
		}
		if !group.MatchString(text) {
			t.Errorf("%s is in none of the groups Start, Operate and Reference", file)
		}
		for _, list := range []string{"README.md", "templates/index.md.tmpl"} {
			links, err := os.ReadFile(list)
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(`guides/` + name + `(\.md)?\)`).Match(links) {
				t.Errorf("%s does not link to %s", list, file)
			}
		}
	}
	if len(files) == 0 || len(files) > mostGuides || all > mostGuideWords {
		t.Errorf("%d guides have %d words, and should be at most %d with %d", len(files), all, mostGuides, mostGuideWords)
	}
}
