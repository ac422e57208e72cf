package fleet

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TestTeamTextIsData checks that a text of a Workload is an error if a template or YAML could take it for more than
// data.
func TestTeamTextIsData(t *testing.T) {
	tests := []struct{ name, key, value, want string }{
		{"a plain text", "path", "./apps/dev", ""},
		{"a URL", "repo", "https://user@example.com:8443/a~b/c+d?ref=main#x,y=z", ""},
		{"braces", "values", `{"a": {"b": 1}}`, ""},
		{"quotes", "note", `it's "so"`, ""},
		{"other letters", "note", "héllo ☃", ""},
		{"a template", "path", "{{ .ConfigData.V }}", "contains {{"},
		{"the beginning of a template", "path", "a{{", "contains {{"},
		{"a template in a key", "{{ .ConfigData.V }}", "x", "The key "},
		{"a line break", "path", "a\nkind: Secret", "line break (U+000A)"},
		{"a carriage return", "path", "a\rb", "line break (U+000D)"},
		{"YAML 1.1's line breaks", "path", "a\u0085b", "line break (U+0085)"},
		{"a line separator", "path", "a\u2028b", "line break (U+2028)"},
		{"a tab", "path", "a\tb", "control character (U+0009)"},
		{"a NUL", "path", "a\x00b", "control character (U+0000)"},
		{"an escape", "path", "\x1b[31m", "control character (U+001B)"},
		{"not valid UTF-8", "path", "a\xffb", "not valid UTF-8"},
		{"an unknown value", "path", unknown.Text, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &Fleet{Environment: "dev", Workloads: []*Workload{{Meta: Meta{Name: "app"}, Targets: []Target{
				{Name: "test", Environment: "dev", Manifests: map[string]string{tt.key: tt.value}},
				{Name: "other", Environment: "dev"},
			}}}}
			problems := f.Validate(t.Context())
			targets, _ := f.DeploymentTargets()
			if tt.want == "" {
				if err := problems.Err(); err != nil || len(targets) != 2 {
					t.Fatalf("%d targets, %v", len(targets), err)
				}
				return
			}
			err := problems.Err()
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `Workload "app"`) {
				t.Errorf("%v\ndoes not contain %q and the Workload", err, tt.want)
			}
			if len(targets) != 1 || targets[0].Name != "app-other" {
				t.Errorf("%d targets are left, want the other one", len(targets))
			}
		})
	}
}

// TestPlainText checks which texts are plain scalars in YAML, and which placeholders replace other texts.
func TestPlainText(t *testing.T) {
	for _, text := range []string{
		"", "a", "https://example.com/a:b@c~d+e=f,g-h_i", "./x", "~/x", "two words", "1.2.3", "a:b",
		"git@host:repo.git", "x - y", "é", "ümläut 東京",
	} {
		if !IsPlainScalar(text) || Placeholder(text) != text {
			t.Errorf("%q is not plain", text)
		}
	}
	for text, standIn := range map[string]string{
		"a: b": "a:xb", "a:": "ax", "- a": "xxa", "---": "x-x", "...": "x.x", "... a": "x..xa",
		"@a": "xa", " a": "xa", "a ": "ax", "a  b": "axxb",
		"a # b": "axxxb", "[a, b]": "xaxxbx", "{a: 1}": "xa:x1x", "*a": "xa", "&a": "xa", "!a": "xa",
		`"a"`: "xax", "|": "x", "–": "x", "é: b": "x:xb",
		"https://x/y?z#w": "https://x/yxzxw", "a\nb": "axb", "%a": "xa", "`a`": "xax", "-a": "xa",
	} {
		got := Placeholder(text)
		if IsPlainScalar(text) || got != standIn || !IsPlainScalar(got) ||
			utf8.RuneCountInString(got) != utf8.RuneCountInString(text) {
			t.Errorf("%q: plain %v, stand-in %q, want %q", text, IsPlainScalar(text), got, standIn)
		}
	}
}

// TestTeamNamesAreData checks that a name or label of a Workload or its targets is an error if a template could take it
// for an action.
func TestTeamNamesAreData(t *testing.T) {
	const action = "{{ .ConfigData.V }}"
	for name, edit := range map[string]func(*Workload){
		"the Workload's name":             func(w *Workload) { w.Name = action },
		"the Workload's label":            func(w *Workload) { w.Labels = map[string]string{"team": action} },
		"the key of the Workload's label": func(w *Workload) { w.Labels = map[string]string{action: "x"} },
		"a target's name":                 func(w *Workload) { w.Targets[0].Name = action },
		"a target's label":                func(w *Workload) { w.Targets[0].Labels = map[string]string{"tier": action} },
		"the key of a target's label":     func(w *Workload) { w.Targets[0].Labels = map[string]string{action: "x"} },
		"a line break in a label": func(w *Workload) {
			w.Targets[0].Labels = map[string]string{"tier": "a\nkind: Secret"}
		},
	} {
		w := &Workload{Meta: Meta{Name: "app"}, Targets: []Target{{Name: "test", Environment: "dev"}}}
		edit(w)
		f := &Fleet{Environment: "dev", Workloads: []*Workload{w}}
		if err := f.Validate(t.Context()).Err(); err == nil || !strings.Contains(err.Error(), "Workload ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
