package conventions_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// gitHubNames removes names of things that only GitHub has from a text.
var gitHubNames = strings.NewReplacer("GitHub Actions", "", "GitHub App", "", "GitHub API", "", "GitHub Enterprise", "",
	"GitHub environment", "", "GitHub token", "", "| GitHub |", "")

// gitHubTexts are the parts of texts that are only about GitHub, by file. All other texts that name GitHub must name
// other hosts too.
var gitHubTexts = map[string][]string{
	"internal/kalypso/git/gitremote/credential.go":        {`"x-access-token" for GitHub`},
	"internal/provider/promotion/commit_status_schema.go": {"GitHub allows 1,000 statuses"},
	"internal/provider/configuration/github.go":           {"GitHub"},
	"internal/provider/schemas/gitops.go":                 {"in GitHub's merge queue"},
	"templates/data-sources/promotion.md.tmpl":            {"GitHub removes old statuses", "GitHub has no drafts"},
	"templates/guides/review.md.tmpl":                     {"On GitHub, the repo must allow auto-merge"},
	"templates/guides/application-teams.md.tmpl":          {"On GitHub, add `.github/"},
	"templates/guides/what-ran-where.md.tmpl":             {"GitHub publishes the pages of", "GitHub Pages"},
	"templates/guides/does-it-run.md.tmpl":                {"GitHub allows 1,000 statuses"},
	"templates/guides/git-servers.md":                     {"- GitHub: *Contents*", "merge queue: `pull_request.state`"},
	"examples/pipelines/fleet-page.yaml":                  {"on GitHub Pages"},
	"examples/application-team/README.md":                 {"on GitHub |"},
	"examples/platform/README.md":                         {"on GitHub |", "On GitHub, create the environments"},
	"templates/index.md.tmpl":                             {"GitHub accepts `x-access-token` as the name"},
}

// TestHostTexts checks that a text about all hosts does not name only GitHub: in schemas, diagnostics, guides and
// examples.
func TestHostTexts(t *testing.T) {
	t.Parallel()
	seen := map[string]map[string]bool{}
	check := func(file, text string) {
		if !strings.Contains(gitHubNames.Replace(text), "GitHub") || strings.Contains(text, "GitLab") ||
			strings.Contains(text, "Gitea") {
			return
		}
		for _, part := range gitHubTexts[file] {
			if strings.Contains(text, part) {
				if seen[file] == nil {
					seen[file] = map[string]bool{}
				}
				seen[file][part] = true
				return
			}
		}
		t.Errorf("%s names only GitHub: %s", file, text)
	}
	for _, file := range textFiles(t) {
		switch filepath.Ext(file) {
		case ".go":
			for _, text := range literals(t, file) {
				check(file, text)
			}
		default:
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(content)) {
				check(file, strings.TrimSpace(line))
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(gitHubTexts)) {
		for _, part := range gitHubTexts[file] {
			if !seen[file][part] {
				t.Errorf("%s no longer contains %q", file, part)
			}
		}
	}
}

// textFiles returns the files with texts for users, except files that are only about GitHub.
func textFiles(t *testing.T) (files []string) {
	t.Helper()
	skipped := []string{"internal/testing", "internal/kalypso/githost/github", "internal/provider/corpus"}
	for _, folder := range []string{"internal", "templates", "examples"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "testdata" || slices.Contains(skipped, filepath.ToSlash(path))):
				return filepath.SkipDir
			case entry.IsDir() || strings.HasSuffix(path, "_test.go"):
				return nil
			case folder != "internal" || strings.HasSuffix(path, ".go"):
				files = append(files, filepath.ToSlash(path))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// literals returns the string literals of a Go file. Literals that are joined by + are returned as one text.
func literals(t *testing.T, file string) (texts []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		expression, is := n.(ast.Expr)
		if !is {
			return true
		}
		text, whole := sum(expression)
		if whole {
			texts = append(texts, text)
		}
		return !whole
	})
	return texts
}

// sum returns the text of literals that are joined by +, without other expressions in the sum. whole is whether e is a
// literal or such a sum.
func sum(e ast.Expr) (text string, whole bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, isLeft := sum(e.X)
		right, isRight := sum(e.Y)
		return left + right, e.Op == token.ADD && (isLeft || isRight)
	}
	return "", false
}
