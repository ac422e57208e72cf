package conventions_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	// refusedTitle matches a diagnostic's title that can't be understood without its body.
	refusedTitle = regexp.MustCompile(`^(What|Who|Whose)\b`)
	// refusedStart matches the start of a comment that hides its subject in a clause.
	refusedStart = regexp.MustCompile(`^(?:What|Whose|Test\w+: what|\w+ (?:is|are) what)\b`)
	// refusedWords match words that comments and guides must not use. "canary-nobody" and the like are names.
	refusedWords = map[string]*regexp.Regexp{
		"nobody, whoever: name the people, or say what does not happen": regexp.MustCompile(
			`(?:^|[^-/\w])(?:(?:[Nn]o|[Ss]ome|[Aa]ny)body|[Ww]hoever)\b`),
		"data does not tell: write shows, reports, lists or contains": regexp.MustCompile(
			`\btells? (?:what|which|whether|how|where|when|why)\b`),
		"others as a subject: name the people or things": regexp.MustCompile(
			`^Others [a-z]+(?:ed|d)\b|[.:] Others (?:pushed|changed|wrote|put)\b`),
		"hold outside of promotion: write contain, keep, have or own": regexp.MustCompile(
			`\b(?:held|holding)\b|\w+ holds\b|\b(?:do|does|did|to|can|could|may|must|will|would|not|n't|that|which) hold\b`),
	}
	// pronoun matches a pronoun in place of a noun. A sentence with two of them needs two readings.
	pronoun = regexp.MustCompile(`\b(?:that|those|the ones?) of\b`)
	// refusedName matches names that types, fields and methods must not have: adverbs, participles and forms of verbs,
	// which do not say what a thing is.
	refusedName = regexp.MustCompile(`(?i)^(?:again|already|always|away|begun|doubtful|elsewhere|ever|gone|here|` +
		`left_?behind|maybe|never|nowhere|ours|perhaps|rests|said|seen|some|somewhere|stays?|still|taken|theirs|then|there|` +
		`unasked|unsure|was|were|why|yet)$`)
	// sentenceEnd matches the end of a sentence, or of a part of it.
	sentenceEnd = regexp.MustCompile(`[.:;!?](?:\s|$)`)
	// heading matches a title in Markdown.
	heading = regexp.MustCompile(`^#+ +(Who|Whose)\b`)
	// quoted matches code and quotations, which repeat texts of programs.
	quoted = regexp.MustCompile("`[^`]*`|\"[^\"]*\"")
)

// unread matches folders whose texts are generated or recorded. TestWords does not read them.
var unread = regexp.MustCompile(`(^|/)(testdata|docs|bin)/`)

// TestWords reads the comments, diagnostics' titles and texts of the code, and the guides, for constructions that
// CONTRIBUTING.md refuses.
func TestWords(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others",
		"--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]int{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if unread.MatchString(name) || name == "CONTRIBUTING.md" || name == "words_test.go" {
			continue
		}
		text, err := os.ReadFile(filepath.Clean(name))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		switch filepath.Ext(name) {
		case ".go":
			read["Go"]++
			checkSource(t, name, text)
		case ".md", ".tmpl":
			read["Markdown"]++
			checkGuide(t, name, string(text))
		}
	}
	if read["Go"] == 0 || read["Markdown"] == 0 {
		t.Errorf("the test read %v files", read)
	}
}

// checkSource checks the comments and the titles of a Go file.
func checkSource(t *testing.T, name string, text []byte) {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range parsed.Comments {
		checkPronouns(t, files.Position(group.Pos()).String(), group.Text())
		for i, comment := range group.List {
			if start := strings.TrimLeft(comment.Text, "/ "); i == 0 && refusedStart.MatchString(start) {
				t.Errorf(
					"%s: a comment that begins with What or Whose, or with is what: name the thing",
					files.Position(comment.Pos()),
				)
			}
			checkWords(t, files.Position(comment.Pos()).String(), strings.TrimLeft(comment.Text, "/ "))
		}
	}
	if !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "internal/testing/") {
		for _, text := range literals(t, name) {
			checkPronouns(t, name, text)
			checkWords(t, name, text)
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		for _, id := range names(n) {
			if !strings.HasSuffix(name, "_test.go") && refusedName.MatchString(id.Name) {
				t.Errorf("%s: the name %s: use a noun, or for a method a verb", files.Position(id.Pos()), id.Name)
			}
		}
		for _, title := range titles(n) {
			literal, ok := title.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				continue
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && refusedTitle.MatchString(text) {
				t.Errorf("%s: a title that begins with What, Who or Whose: %q", files.Position(title.Pos()), text)
			}
		}
		return true
	})
}

// names returns the name of a type or a method, or the names of fields.
func names(n ast.Node) []*ast.Ident {
	switch n := n.(type) {
	case *ast.TypeSpec:
		return append(fieldNames(n.Type), n.Name)
	case *ast.FuncDecl:
		if n.Recv != nil {
			return []*ast.Ident{n.Name}
		}
	}
	return nil
}

// fieldNames returns the names of the fields of a struct, or of the methods of an interface.
func fieldNames(of ast.Expr) (all []*ast.Ident) {
	list := &ast.FieldList{}
	switch of := of.(type) {
	case *ast.StructType:
		list = of.Fields
	case *ast.InterfaceType:
		list = of.Methods
	}
	for _, field := range list.List {
		all = append(all, field.Names...)
	}
	return all
}

// titles returns the expressions that are titles of diagnostics: the field Summary, and the argument of Terraform's
// functions.
func titles(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Summary" {
			return []ast.Expr{n.Value}
		}
	case *ast.CallExpr:
		function, ok := n.Fun.(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		switch function.Sel.Name {
		case "AddError", "AddWarning", "NewErrorDiagnostic", "NewWarningDiagnostic", "report":
			return n.Args[:min(1, len(n.Args))]
		case "AddAttributeError", "AddAttributeWarning", "NewAttributeErrorDiagnostic":
			return n.Args[min(1, len(n.Args)):min(2, len(n.Args))]
		}
	}
	return nil
}

// checkGuide checks the lines of a Markdown file outside of its code blocks.
func checkGuide(t *testing.T, name, text string) {
	t.Helper()
	code := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
			continue
		}
		if code {
			continue
		}
		if _, rest, row := strings.Cut(strings.TrimPrefix(line, "| "), " | "); row && path.Base(name) == "errors.md" {
			line = rest // the first cell is a title, which the code's check reads
		}
		at := name + ":" + strconv.Itoa(i+1)
		checkWords(t, at, line)
		checkPronouns(t, at, line)
		if heading.MatchString(line) {
			t.Errorf("%s: a heading that begins with Who or Whose: %s", at, line)
		}
	}
}

// checkPronouns refuses a second "that of" in a sentence: say the noun again.
func checkPronouns(t *testing.T, at, text string) {
	t.Helper()
	for _, sentence := range sentenceEnd.Split(text, -1) {
		if len(pronoun.FindAllString(sentence, -1)) > 1 {
			t.Errorf("%s: a second %q in one sentence: say the noun again: %s", at, "that of", sentence)
		}
	}
}

// checkWords checks a line of a comment or a guide, or a text of the code.
func checkWords(t *testing.T, at, line string) {
	t.Helper()
	plain := quoted.ReplaceAllString(line, "")
	for why, refused := range refusedWords {
		if found := refused.FindString(plain); found != "" {
			t.Errorf("%s: %q: %s", at, strings.TrimSpace(found), why)
		}
	}
}
