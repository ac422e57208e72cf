package render

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// templatesThatEncode are templates that encode all values, each in another way.
var templatesThatEncode = map[string]string{
	"built-in":  "",
	"toYaml":    "data:\n{{ toYaml .ConfigData | indent 2 }}\n",
	"stringify": "data: {{ stringify .ConfigData | nindent 4 }}\n",
	"each":      "data:{{ range $k, $v := .ConfigData }}{{ toYaml (dict $k $v) | nindent 2 }}{{ end }}\n",
	"quote":     "data:{{ range $k, $v := .ConfigData }}\n  {{ $k }}: {{ $v | quote }}{{ end }}\n",
	"toJson":    "data: {{ toJson .ConfigData }}\n",
	"printf":    "data:{{ range $k, $v := .ConfigData }}\n  {{ $k }}: {{ printf \"%q\" $v }}{{ end }}\n",
	"variable":  "{{ $y := toYaml .ConfigData }}data:\n{{ $y | indent 2 }}\n",
	"defined":   "{{ define \"y\" }}{{ toYaml . | indent 2 }}{{ end }}data:\n{{ template \"y\" .ConfigData }}\n",
}

// TestTemplatesInValues renders values that contain templates, whatever else they contain, with templates that encode
// them.
func TestTemplatesInValues(t *testing.T) {
	const team = `{{ .Labels.team | default "none" }}`
	others := map[string]string{
		"OTHER": `it's "quoted" \ back`, "LINES": "one\n  two\n", "TAB": "\tt",
		"CHAIN": `{{ .ConfigData.OTHER }}!`, "QUOTES": `{{ .ConfigData.OTHER | quote }}`,
	}
	for value, want := range map[string]string{
		"a\t" + team: "a\tblue",
		"a\t{{ .Labels.none | default \"none\" }}": "a\tnone",
		team:                                   "blue",
		"\U0001f600 " + team:                   "\U0001f600 blue",
		"a\r\n" + team + "\r\n":                "a\r\nblue\r\n",
		"\ufeff{{ .Namespace }}":               "dev-large-app-test",
		"'x' \"y\" " + team:                    `'x' "y" blue`,
		`C:\dir\` + team:                       `C:\dir\blue`,
		"it's " + team:                         "it's blue",
		"{{ .ConfigData.OTHER }}":              `it's "quoted" \ back`,
		"{{ .ConfigData.LINES }}":              "one\n  two\n",
		"a\n{{ .ConfigData.LINES }}b\n":        "a\none\n  two\nb\n",
		"{{ .ConfigData.TAB }}x":               "\ttx",
		"{{ .ConfigData.CHAIN }}":              `it's "quoted" \ back!`,
		"{{ .ConfigData.CHAIN }}\t" + team:     `it's "quoted" \ back!` + "\tblue",
		"{{ .ConfigData.QUOTES }}":             `"it's \"quoted\" \\ back"`,
		"tr{{ `ue` }}":                         "true",
		"{{ 1 }}e{{ 3 }}":                      "1e3",
		"{{ if true }}\n\tx\n{{ end }}":        "\n\tx\n",
		"x: {{ .Namespace }}\ny":               "x: dev-large-app-test\ny",
		"{{- .Namespace }} {{/* c */ -}} ":     "dev-large-app-test ",
		"{{ `'` }}":                            "'",
		"{{ \"\\n\" }}":                        "\n",
		"\u2028{{ .ClusterType }}":             "\u2028large",
		"<{{ .ClusterType }}&>":                "<large&>",
		"{{ if and true (lt 1 2) }}<{{ end }}": "<",
	} {
		for name, template := range templatesThatEncode {
			values := map[string]string{"KEY": value}
			for k, v := range others {
				values[k] = v
			}
			text, _, err := renderValues(t, values, template)
			if err != nil {
				t.Errorf("%s, %q: %v", name, value, err)
				continue
			}
			for reader, read := range readers {
				var got struct{ Data map[string]any }
				if err := read(text, &got); err != nil {
					t.Errorf("%s, %q: %s can't read it: %v\n%s", name, value, reader, err, text)
				} else if got.Data["KEY"] != any(want) {
					t.Errorf("%s, %q: %s reads %q, want %q\n%s", name, value, reader, got.Data["KEY"], want, text)
				}
			}
		}
	}
}

// TestTemplatesInStructures renders maps and lists that contain templates.
func TestTemplatesInStructures(t *testing.T) {
	const value = "a: \"x\\t{{ .Labels.team | default \\\"none\\\" }}\"\n" +
		"l: ['{{ .ConfigData.OTHER }}', " +
		"{\"{{ .ClusterType }}\": \"\\U0001F600{{ \\\"q\\\" }}\"}]\nz: 12345678901234567890123\n"
	const inner = "a: \"x\\tblue\"\nl:\n    - |-\n      it's \"quoted\"\n      and long\n    - large: \"\\U0001F600q\"\n" +
		"z: 12345678901234567890123\n"
	text, _, err := renderValues(t, map[string]string{"KEY": value, "OTHER": "it's \"quoted\"\nand long"}, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, read := range readers {
		var got struct{ Data map[string]string }
		if err := read(text, &got); err != nil || got.Data["KEY"] != inner {
			t.Errorf("%s reads %q, %v, want %q\n%s", name, got.Data["KEY"], err, inner, text)
		}
	}
}

// TestBytesOfTemplatesInValues checks that values whose encoding leaves their templates as they are have the bytes of
// the operator, which encodes a value before it renders it.
func TestBytesOfTemplatesInValues(t *testing.T) {
	values := map[string]string{
		"A": "{{ .Namespace }}", "B": "{{ .Namespace }}.acme.io", "C": "x {{ .ClusterType }}",
		"D": "a\n{{ if true }}\nb\n{{ end }}\nc\n",
		"E": "k: '{{ .Namespace }}'\nl: [x]\n", "F": `{{ .Labels.team | default "none" }}`,
	}
	text, _, err := renderValues(t, values, "{{ toYaml .ConfigData }}\nsum: {{ toYaml .ConfigData | sha256sum }}\n")
	const want = `A: 'dev-large-app-test'
B: 'dev-large-app-test.acme.io'
C: x large
D: |
    a
    ` + `
    b
    ` + `
    c
E:
    k: 'dev-large-app-test'
    l:
        - x
F: 'blue'
sum: 0`
	if err != nil || !strings.HasPrefix(text, want[:len(want)-1]) {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
}

// TestFaultsInTemplatesOfValues checks that a template in a value that fails is an error, also where its encoding hides
// it.
func TestFaultsInTemplatesOfValues(t *testing.T) {
	for value, want := range map[string]string{
		"a\t{{ .Labels.none }}":                `the value of "KEY"`,
		"\U0001f600{{ if }}":                   `the value of "KEY"`,
		"a\t{{ .ConfigData.KEY }}":             "refers to itself",
		"{{ .Labels.none }}":                   "prints a missing or null value",
		"\x1b{{ \"x\" | fail }}":               `the value of "KEY"`,
		"a\t{{ \"wpI=\" | b64dec }}":           "U+0092",
		"\"{{ `x` }}\": 1\n\"{{ \"x\" }}\": 2": "", // not YAML, so a text
	} {
		text, _, err := renderValues(t, map[string]string{"KEY": value}, "")
		if want == "" {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || want == "U+0092" && !strings.Contains(err.Error(), "KEY") {
			t.Errorf("%q gives %q, %v; want %q", value, text, err, want)
		}
	}
}

// TestRandomTemplatesInValues renders random texts around actions.
func TestRandomTemplatesInValues(t *testing.T) {
	actions := map[string]string{
		"{{ .ClusterType }}": "large", `{{ "a\"b" }}`: `a"b`, "{{ `\\` }}": `\`, `{{ .Labels.none | default "no" }}`: "no",
		"{{ if true }}": "", "{{ .ConfigData.HARD }}": "",
	}
	for seed := range seeds.Of(t, 200, 10_000) {
		r := rand.New(rand.NewPCG(seed, 82))
		hard := strings.ReplaceAll(hardText(r), "'", "")
		if _, isText := parsedAsText(t, hard); !isText {
			hard = "hard"
		}
		before, after := hardText(r), hardText(r)
		values, want := map[string]string{"HARD": hard}, map[string]string{}
		for action, result := range actions {
			switch action {
			case "{{ .ConfigData.HARD }}":
				result = hard
			case "{{ if true }}":
				action, result = action+"x{{ end }}", "x"
			}
			key := "K" + string(rune('A'+len(want)))
			values[key], want[key] = "-"+before+action+after, "-"+before+result+after
			if strings.Contains(want[key], "{{") || strings.HasSuffix(before, "{") || strings.HasPrefix(after, "}") {
				delete(values, key)
				delete(want, key)
			}
		}
		for name, template := range templatesThatEncode {
			if name == "toJson" && strings.Contains(before+hard+after, "\u0085") {
				continue // JSON does not escape it, and YAML reads a line break
			}
			text, data, err := renderValues(t, values, template)
			if err != nil {
				t.Fatalf("seed %d, %s of %q: %v", seed, name, values, err)
			}
			printsGo := name == "quote" || name == "printf"
			if printsGo && slices.ContainsFunc(slices.Collect(maps.Values(data)), isStructure) {
				continue // it prints Go's form of a map
			}
			for reader, read := range readers {
				var got struct{ Data map[string]any }
				if err := read(text, &got); err != nil {
					t.Fatalf("seed %d, %s of %q: %s can't read it: %v\n%s", seed, name, values, reader, err, text)
				}
				for key := range want {
					if _, isText := data[key].(string); isText && got.Data[key] != any(want[key]) {
						t.Fatalf("seed %d, %s of %q: %s reads %q, want %q\n%s", seed, name, values[key], reader, got.Data[key],
							want[key], text)
					}
				}
			}
		}
	}
}

func isStructure(v any) bool { return !isScalar(v) }

func parsedAsText(t *testing.T, text string) (any, bool) {
	t.Helper()
	_, data, err := renderValues(t, map[string]string{"K": text}, "x: 1\n")
	if err != nil {
		t.Fatal(err)
	}
	_, isText := data["K"].(string)
	return data["K"], isText
}

// FuzzTemplateInValue renders any text around an action.
func FuzzTemplateInValue(f *testing.F) {
	for _, text := range []string{"a\t", "\ufeff", "'", `"`, "\U0001f600", "a\r\n", "\\", "|\n", "- ", ": "} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		if checkText(before) != nil || checkText(after) != nil || strings.ContainsAny(before+after, "{}") ||
			strings.HasPrefix(before, "\ufeff") {
			return
		}
		data := Data{ConfigData: map[string]any{"k": before + `{{ "a\"b" }}` + after}}
		for _, function := range []string{"toYaml", "stringify", "toJson"} {
			text, err := Text(t.Context(), &fleet.Template{Manifests: []string{"{{ " + function + " .ConfigData }}\n"}}, data)
			if err != nil {
				t.Fatalf("%s: %v", function, err)
			}
			for name, read := range readers {
				var got map[string]any
				if err := read(text, &got); err != nil || got["k"] != any(before+`a"b`+after) {
					t.Fatalf("%s reads %s of %q as %q, %v\n%s", name, function, data.ConfigData["k"], got["k"], err, text)
				}
			}
		}
	})
}

// TestTeamTextInTemplatesOfValues renders a value whose template prints a text of a team, which is only data.
func TestTeamTextInTemplatesOfValues(t *testing.T) {
	for path, want := range map[string]string{
		"./app":       "./app",
		"it's: here":  "it's: here",
		`a "b" \ # c`: `a "b" \ # c`,
		"x: y":        "x: y",
		"true":        "true",
	} {
		values := map[string]string{"A": "{{ .Manifests.path }}", "B": "\t{{ .Manifests.path }}", "C": "{{ .Namespace }}"}
		text, err := renderFleet(t, values, "", map[string]string{"path": path})
		if err != nil {
			t.Errorf("%q: %v", path, err)
			continue
		}
		for name, read := range readers {
			var got struct{ Data map[string]any }
			if err := read(text, &got); err != nil || got.Data["A"] != any(want) || got.Data["B"] != any("\t"+want) {
				t.Errorf("%s reads %v, %v, want %q\n%s", name, got.Data, err, want, text)
			}
		}
	}
}

// TestUnknownTemplatesInValues checks that a file is unknown while a template in a value depends on an unknown value,
// also if an encoding changes the template.
func TestUnknownTemplatesInValues(t *testing.T) {
	for _, value := range []string{
		"{{ .Manifests.path }}", "a\t{{ .Manifests.path | default \"x\" }}", "\U0001f600{{ .Manifests.path }}",
	} {
		text, err := renderFleet(t, map[string]string{"A": value}, "", map[string]string{"path": unknown.Text})
		if err != nil || text != "(unknown)" {
			t.Errorf("%q gives %q, %v", value, text, err)
		}
	}
}

// TestNames checks that the texts that need no reader to decide are strings in YAML without quotes.
func TestNames(t *testing.T) {
	names := 0
	for seed := range seeds.Of(t, 2_000, 100_000) {
		r := rand.New(rand.NewPCG(seed, 83))
		var b strings.Builder
		for range 1 + r.IntN(9) {
			parts := []string{"a", "E", "0", "9", " ", "-", ".", "/", "_", "null", "true", "inf", "nan", "0x", ":", "#", "é"}
			b.WriteString(parts[r.IntN(len(parts))])
		}
		if text := b.String(); isName(text) {
			names++
			for _, v := range readYAML("k: " + text + "\n") {
				if found, _ := field(v, "k"); found != any(text) {
					t.Errorf("%q is read as %v", text, found)
				}
			}
		}
	}
	if !seeds.Single() && names < 100 {
		t.Errorf("only %d names", names)
	}
}
