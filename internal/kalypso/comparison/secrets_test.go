package comparison_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison"
)

// everyByte writes each byte of a text in a format.
func everyByte(format, text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

// forms are the forms in which a file may contain a secret.
var forms = map[string]func(string) string{
	"as it is":              func(s string) string { return s },
	"in a sentence":         func(s string) string { return "use " + s + " here" },
	"in a line":             func(s string) string { return "a: b\nargs: [--x=" + s + "]\n" },
	"in a query":            func(s string) string { return "https://acme.io?x=" + url.QueryEscape(s) },
	"percent":               func(s string) string { return everyByte("%%%02x", s) },
	"JSON":                  func(s string) string { return `{"a": "` + everyByte(`\u%04x`, s) + `"}` },
	"YAML, two digits":      func(s string) string { return `a: "` + everyByte(`\x%02X`, s) + `"` },
	"YAML, eight digits":    func(s string) string { return `a: "` + everyByte(`\U%08x`, s) + `"` },
	"YAML, some escapes":    func(s string) string { return `a: "` + everyByte(`\x%02x`, s[:3]) + s[3:] + `"` },
	"YAML, over two lines":  func(s string) string { return `a: "` + s[:4] + "\\\n   " + s[4:] + `"` },
	"Base64":                func(s string) string { return base64.StdEncoding.EncodeToString([]byte("me:" + s)) },
	"Base64 for URLs":       func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"after other text":      func(s string) string { return strings.Repeat("x ", 480) + s },
	"at the end of a value": func(s string) string { return strings.Repeat("x", 995) + " " + s },
}

// inYAML writes a text as a value of a ConfigMap.
func inYAML(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

// TestSecretsElsewhere: a text that is a secret by its key or form in one file is hidden in every value of the
// comparison, in each form.
func TestSecretsElsewhere(t *testing.T) {
	t.Parallel()
	const password, token = "Tr0ub4dor&3-canary", "gh" + "p_0123456789canary0123456789abcdefghij"
	other := func(side, name, key, value string) tree {
		return tree{"large/app/" + name: configMap(side+"-large-app", key+": "+inYAML(value))}
	}
	for place, secret := range map[string]struct {
		text string
		in   func(side string) tree // the file that shows that the text is a secret
	}{
		"another key of another file": {password, func(side string) tree {
			return other(side, "a.yaml", "DB_PASSWORD", password)
		}},
		"a file that comes later": {password, func(side string) tree {
			return other(side, "z.yaml", "DB_PASSWORD", password)
		}},
		"a file of one side": {password, func(side string) tree {
			if side == "prod" {
				return tree{}
			}
			return other(side, "a.yaml", "DB_PASSWORD", password)
		}},
		"a shell file": {password, func(side string) tree {
			return tree{"large/app/a.sh": "export DB_PASSWORD=" + password + "\nexport SIDE=" + side + "\n"}
		}},
		"a file that is no config": {password, func(side string) tree {
			return tree{"large/app/x.yaml": "kind: Secret\nstringData:\n  password: " + password + "\nside: " + side + "\n"}
		}},
		"a URL": {password, func(side string) tree {
			return other(side, "a.yaml", "DB", "postgres://"+side+":"+password+"@db.acme.io/app")
		}},
		"a login in Base64": {password, func(side string) tree {
			return other(side, "a.yaml", "HEADER", "Authorization: Basic "+
				base64.StdEncoding.EncodeToString([]byte(side+":"+password)))
		}},
		"another folder": {password, func(side string) tree {
			return tree{"small/app/a.yaml": configMap(side+"-small-app", "DB_PASSWORD: "+inYAML(password), "SIDE: "+side)}
		}},
		"no other place": {token, func(string) tree { return tree{} }},
	} {
		for form, write := range forms {
			left, right := secret.in("stage"), secret.in("prod")
			left["large/app/m.yaml"] = configMap("stage-large-app", "A: "+inYAML(write(secret.text)))
			right["large/app/m.yaml"] = configMap("prod-large-app", "A: none")
			lines := compare(left, right, comparison.Options{})
			if !slices.Contains(lines, `config A: "(hidden)" "none" in [large/app]`) ||
				strings.Contains(strings.Join(lines, "\n"), "canary") {
				t.Errorf("%s, %s: %s", place, form, strings.Join(lines, "\n"))
			}
		}
	}
}

// TestNoSecretsElsewhere: a value that only resembles a secret is shown, and a short secret hides only equal values.
func TestNoSecretsElsewhere(t *testing.T) {
	t.Parallel()
	left := tree{"large/app/a.yaml": configMap("stage-large-app", `DB: "postgres://app:b9@db/app"`, "A: b9", "B: cab99",
		`C: "100%25 \\x41"`, "DB_PASSWORD: "+inYAML("Tr0ub4dor&3"), "D: Tr0ub4dor")}
	right := tree{"large/app/a.yaml": configMap("prod-large-app", "DB: none", "A: none", "B: none", "C: none",
		"DB_PASSWORD: none", "D: none")}
	want := []string{
		`config A: "(hidden)" "none" in [large/app]`, `config B: "cab99" "none" in [large/app]`,
		`config C: "100%25 \\x41" "none" in [large/app]`, `config D: "Tr0ub4dor" "none" in [large/app]`,
		`config DB: "(hidden)" "none" in [large/app]`, `config DB_PASSWORD: "(hidden)" "none" in [large/app]`,
	}
	if got := compare(left, right, comparison.Options{}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
