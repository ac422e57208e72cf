package describe_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
)

// everyByte writes each byte of a text in a format.
func everyByte(format, text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

// TestSecretLinesElsewhere: a text that is a secret by its key or form in one line of a folder, or in a config value,
// is hidden in each line, in each form. Other lines are shown.
func TestSecretLinesElsewhere(t *testing.T) {
	t.Parallel()
	const password, token = "Tr0ub4dor&3-canary", "gh" + "p_0123456789canary0123456789abcdefghij"
	quoted := func(text string) string {
		q, err := json.Marshal(text)
		if err != nil {
			panic(err)
		}
		return string(q)
	}
	for place, secret := range map[string]struct {
		text, file string   // the file shows that the text is a secret
		secrets    []string // of config values
		before     bool     // only the file before the change does
	}{
		"another line":                  {text: password, file: "DB_PASSWORD: " + password + "\n"},
		"a file before the change":      {text: password, file: "DB_PASSWORD: " + password + "\n", before: true},
		"a quoted value":                {text: password, file: `"DB_PASSWORD": ` + quoted(password) + ",\n"},
		"a shell file":                  {text: password, file: "export DB_PASSWORD=" + password + "\n"},
		"a Secret":                      {text: password, file: "kind: Secret\nstringData:\n  password: " + password + "\n"},
		"a URL":                         {text: password, file: "DB: postgres://me:" + password + "@db.acme.io/app\n"},
		"a config value":                {text: password, secrets: []string{password}},
		"a config value that is hidden": {text: password, secrets: []string{password}, file: "DB_PASSWORD: (secret)\n"},
		"no other place":                {text: token},
		"a login in Base64": {text: password, file: "HEADER: Authorization: Basic " +
			base64.StdEncoding.EncodeToString([]byte("me:"+password)) + "\n"},
	} {
		s := secret.text
		for form, line := range map[string]string{
			"value":             "a: " + s,
			"quoted value":      "a: " + quoted(s),
			"item":              "- " + s,
			"in a sentence":     "use " + s + " here",
			"comment":           "# was " + s,
			"argument":          "args: [--x=" + s + "]",
			"key":               s + ": 1",
			"in a query":        "u: https://acme.io?x=" + url.QueryEscape(s),
			"percent":           "a: " + everyByte("%%%02x", s),
			"JSON":              `a: "` + everyByte(`\u%04x`, s) + `"`,
			"YAML, two digits":  `a: "` + everyByte(`\x%02X`, s) + `"`,
			"YAML, some":        `a: "` + everyByte(`\x%02x`, s[:3]) + s[3:] + `"`,
			"Base64":            "a: " + base64.StdEncoding.EncodeToString([]byte("me:"+s)),
			"Base64 for URLs":   "a: " + base64.RawURLEncoding.EncodeToString([]byte(s)),
			"after other text":  "a: " + strings.Repeat("x ", 480) + s,
			"at the end of one": "a: " + strings.Repeat("x", 995) + " " + s,
		} {
			text := lineText(t, secret.file, line, secret.before, secret.secrets)
			shown := strings.Contains(text, line) || strings.Contains(text, "canary") || strings.Contains(text, s)
			if shown || !strings.Contains(text, "(secret)") || !strings.Contains(text, "b: plain") {
				t.Errorf("%s, %s: the line %q is in\n%s", place, form, line, text)
			}
		}
	}
}

// lineText describes a change that adds a line to the file m.yaml, beside another file, which may be emptied.
func lineText(t *testing.T, other, line string, emptied bool, secrets []string) string {
	t.Helper()
	file := func(name, text string) render.File { return render.File{Path: name, Content: []byte(text)} }
	files := func(int, *describe.Buffers) (before, after describe.FolderFiles, known bool) {
		before.Files = []render.File{file("a.yaml", other), file("m.yaml", "b: plain\n")}
		after.Files = []render.File{file("a.yaml", other), file("m.yaml", "b: plain\n"+line+"\n")}
		if emptied {
			after.Files[0].Content = nil
		}
		return before, after, true
	}
	folders := []comparison.Folder{{ClusterType: "large", Target: "app"}}
	return describe.Markdown(describe.RenderingChange{
		Lines: describe.NewLines(t.Context(), folders, files, nil, secrets),
	})
}
