package render

import (
	"errors"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

func testData() Data {
	return Data{
		DeploymentTargetName: "app-test",
		Namespace:            "dev-large-app-test",
		Environment:          "dev",
		Workspace:            "team-a",
		Workload:             "app",
		ClusterType:          "large",
		Labels:               map[string]string{"purpose": "test", "empty": ""},
		Manifests:            map[string]string{"repo": "https://example.com/r", "branch": "main", "storage": "git"},
		ConfigData: map[string]any{
			"S":     "text",
			"Q":     `  "double" `,
			"N":     "007",
			"T":     "{{ .ClusterType }}-{{ .ConfigData.S }}",
			"LOOP":  "{{ .ConfigData.LOOP }}",
			"EMPTY": "",
			"MULTI": "one\ntwo\n",
			"U":     "héllo ☃",
			"M":     map[string]any{"b": 1, "a": map[string]any{"c": []any{1.5, true, nil}}, "null": nil},
			"L":     []any{"x", map[string]any{"name": "y", "big": uint64(12345678901234567890)}},
		},
	}
}

// TestText checks the rules of rendering: how values are printed, manifests are joined or left out, and results are
// rendered again.
func TestText(t *testing.T) {
	tests := []struct {
		name, contentType string
		manifests         []string
		want              string
	}{
		{"names", "", []string{"{{ .DeploymentTargetName }} {{ .Namespace }} {{ .Environment }} {{ .Workspace }} {{ " +
			".Workload }} {{ .ClusterType }}"},
			"app-test dev-large-app-test dev team-a app large"},
		{
			"manifests by their older names",
			"",
			[]string{"{{ .Repo }} {{ .Branch }} {{ .Manifests.storage }}"},
			"https://example.com/r main git",
		},
		{"missing manifest with an older name in a condition", "", []string{"{{ if .Path }}path{{ else }}none{{ end }}"},
			"none"},
		{"missing label in a condition", "", []string{"{{ if .Labels.edge }}edge{{ else }}core{{ end }}"}, "core"},
		{
			"missing value with a default",
			"",
			[]string{`{{ .ConfigData.none | default "d" }}{{ .ConfigData.M.null | default ` +
				`"n" }}`},
			"dn",
		},
		{"empty values", "", []string{"[{{ .Labels.empty }}{{ .ConfigData.EMPTY }}]"}, "[]"},
		{"three manifests", "", []string{"a: 1", "b: 2\n", "c: 3"}, "a: 1\n---\nb: 2\n---\nc: 3"},
		{
			"three manifests of a shell file",
			"sh",
			[]string{"export A=1", "export B=2\n", "export C=3"},
			"export A=1\nexport B=2\nexport C=3",
		},
		{"unknown content type", "toml", []string{"a", "b"}, "a\n---\nb"},
		{
			"empty manifests",
			"",
			[]string{"{{ if false }}x{{ end }}", "a", "", "b", "{{/* nothing */}}"},
			"a\n---\nb",
		},
		{"manifests of blanks", "", []string{" ", "\n", "a"}, " \n---\n\n---\na"},
		{"a manifest with only a definition", "", []string{`{{ define "x" }}x{{ end }}`, "a"}, "a"},
		{"values that contain templates", "", []string{"v: {{ .ConfigData.T }}"}, "v: large-text"},
		{"a printed template", "", []string{"{{ `{{ .ClusterType }}` }}"}, "large"},
		{
			"defined templates",
			"",
			[]string{`{{ define "l" }}<{{ . }}>{{ end }}{{ template "l" .ClusterType }}{{ block "b" ` +
				`.Labels }}{{ .purpose }}{{ end }}`},
			"<large>test",
		},
		{"loops", "", []string{"{{ range $k, $v := .Labels }}{{ $k }}={{ $v }};{{ end }}{{ range until 3 }}{{ if eq . 1 " +
			"}}{{ continue }}{{ end }}{{ . }}{{ end }}"},
			"empty=;purpose=test;02"},
		{"toYaml of a map", "", []string{"{{ toYaml .ConfigData.M }}"},
			"a:\n    c:\n        - 1.5\n        - true\n        - null\nb: 1\n\"null\": null"},
		{
			"toYaml of text",
			"",
			[]string{"{{ toYaml .ConfigData.N }} {{ toYaml .ConfigData.MULTI }}|{{ toYaml .ConfigData.U " +
				"}}"},
			"\"007\" |\n    one\n    two|héllo ☃",
		},
		{"toYaml of a map with null", "", []string{`{{ toYaml (pick .ConfigData.M "null") }}`}, "\"null\": null"},
		{
			"toYaml of all data",
			"",
			[]string{`{{ toYaml . | splitList "\n" | first }}`},
			"deploymenttargetname: app-test",
		},
		{"toJson", "", []string{"{{ toJson .ConfigData.L }}"}, `["x",{"big":12345678901234567890,"name":"y"}]`},
		{"stringify of a map", "", []string{`{{ stringify (dict "s" "x" "n" 1 "m" .ConfigData.M "l" .ConfigData.L "t" ` +
			`(splitList "," "a,b") "e" (dict) "k" (keys .ConfigData.M)) }}`},
			`e: |
    {}
k: |
    - a
    - b
    - "null"
l: |
    - x
    - big: 12345678901234567890
      name: "y"
m: |
    a:
        c:
            - 1.5
            - true
            - null
    b: 1
    "null": null
"n": 1
s: x
t: |
    - a
    - b`},
		{"stringify of values that are not maps of any values", "",
			[]string{"{{ stringify .ConfigData.L }}|{{ stringify .ConfigData.S }}|{{ stringify .Labels }}"},
			"- x\n- big: 12345678901234567890\n  name: \"y\"|text|empty: \"\"\npurpose: test"},
		{"unquote", "", []string{"{{ unquote .ConfigData.Q }}|{{ unquote `'\"x\"'` }}|{{ unquote `\"'x'\"` }}|{{ unquote " +
			"`''x''` }}|{{ unquote 3 }}|{{ unquote .ConfigData.M }}"},
			"double|\"x\"|x|x||"},
		{"hash", "", []string{`{{ hash (dict) }} {{ hash "a" }} {{ hash 1 }} {{ hash (dict "a" 1 "b" (list 1 "x")) }} {{ ` +
			`hash (dict "M" (dict "k" 1.5 "n" nil) "L" (list true (dict "name" ` +
			`"x"))) }}`},
			// The result of github.com/mitchellh/hashstructure v1.1.0 for the same values.
			"0 12638153115695167422 16390143479181108970 3344758751922209537 15992462139616234727"},
		{"keys and values", "", []string{`{{ keys .ConfigData.M | join "," }} {{ values (dict "z" .Workspace ` +
			`"a" .ClusterType) | join "," }}`},
			"a,b,null large,team-a"},
		{"bounded functions within their bounds", "", []string{`{{ repeat 3 "ab" }}|{{ until -3 }}|{{ ` +
			`untilStep 0 7 3 }}|{{ seq 5 }}|{{ seq 2 -1 }}|{{ seq 0 2 5 }}|{{ indent 2 "a\nb" }}|{{ nindent 1 "c" }}`},
			"ababab|[0 -1 -2]|[0 3 6]|1 2 3 4 5|2 1 0 -1|0 2 4|  a\n  b|\n c"},
		{
			"data that one of two manifests changes",
			"",
			[]string{
				`{{ define "f" }}{{ $_ := set . "S" "changed" }}{{ end }}{{ template "f" .ConfigData }}{{ .ConfigData.S }}`,
				"{{ .ConfigData.S }}",
			},
			"changed\n---\ntext",
		},
		{
			"printf of all data",
			"",
			[]string{`{{ printf "%v" (list .) | contains "0x" }}{{ printf "100%% ` +
				`%d" 3 }}`},
			"false100% 3",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Text(
				t.Context(),
				&fleet.Template{Meta: fleet.Meta{Name: "t"}, ContentType: tt.contentType, Manifests: tt.manifests},
				testData(),
			)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestTextFails checks the errors of templates, with their positions.
func TestTextFails(t *testing.T) {
	const loops = "Check its loops"
	tests := []struct{ name, manifest, want string }{
		{"a template that does not parse", "a\nb: {{ .X", "Manifest 1, line 2: unclosed action.\n  b: {{ .X"},
		{"a long line", "a\n  {{ x }}" + strings.Repeat("é", 300), "\n  {{ x }}" + strings.Repeat("é", 193)},
		{"unclosed if", "a\n{{ if .X }}\n\nb", "line 4: unexpected EOF"},
		{"unclosed action over lines", "a\n{{ if\n", "line 3: unclosed action started at line 2"},
		{"unknown function", "\n\n{{ env \"HOME\" }}", `line 3: function "env" not defined`},
		{"unknown field", "a\n{{ .Name }}", `line 2: <.Name>: can't evaluate field Name`},
		{"missing value", "a\n\n{{ .Labels.edge }}", "line 3: {{ .Labels.edge }} prints a missing or null value"},
		{
			"missing value in a later line",
			"a: {{ .ClusterType }}\nb: {{ .Labels.purpose }}\nc: {{ .ConfigData.none }}\n",
			"line 3: {{ .ConfigData.none }} prints",
		},
		{"missing nested value", "{{ .ConfigData.none.deeper }}", "line 1: {{ .ConfigData.none.deeper }} prints"},
		{"null value", "{{ .ConfigData.M.null }}", "line 1: {{ .ConfigData.M.null }} prints"},
		{"missing older name", "{{ .Path }}", "{{ .Path }} prints"},
		{"missing value of a lookup", `{{ index .ConfigData "a-b" }}`, `{{ index .ConfigData "a-b" }} prints`},
		{
			"missing value in a definition",
			"{{ define \"x\" }}\n{{ .none }}{{ end }}{{ template \"x\" .Labels }}",
			"line 2: {{ .none }} prints",
		},
		{"missing value in a loop", "{{ range .ConfigData.L }}{{ else }}{{ end }}{{ range $k, $v := .ConfigData.M }}\n{{ " +
			"$v }}{{ end }}", "line 2: {{ $v }} prints"},
		{"function fails", "{{ fail \"no luck\" }}", "line 1: <fail \"no luck\">: error calling fail: no luck"},
		{"function panics", "{{ regexFind \"(\" \"x\" }}", "line 1: "},
		{"missing value into a function", "{{ .Labels.edge | upper }}",
			"line 1: {{ .Labels.edge | upper }} prints a missing or null value, .Labels.edge;"},
		{
			"toYaml of a value that YAML cannot express",
			"{{ toYaml (list 1 (semver \"1.2.3\")) | len }}{{ hash (list) }}{{ mustToJson (dict " +
				"\"f\" (float64 \"nan\")) }}",
			"unsupported value: NaN",
		},
		{"huge loop", "a\n{{ range 2000000000 }}{{ end }}", loops},
		{"nested loops", "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}", loops},
		{"huge list", "{{ until 2000000000 }}", "it would return more than 1000000 numbers"},
		{"huge text", "{{ repeat 2000000000 \"x\" }}", "it may return up to 1953125Ki"},
		{"huge indent", "{{ indent 2000000000 \"x\" }}", "it may return up to 1953125Ki"},
		{
			"text that doubles",
			"\n{{ $x := \"xx\" }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}{{ len $x }}",
			"line 2: <print $x $x>: error calling print: the value exceeds limits.file_size (1Mi)",
		},
		{
			"list that doubles",
			"{{ $x := until 2 }}{{ range until 60 }}{{ $x = concat $x $x }}{{ end }}{{ len $x }}",
			"the functions of the template return more than 64Mi in all",
		},
		{"text that doubles by calls",
			"{{ define \"a\" }}{{ template \"a\" (print . .) }}{{ end }}{{ template \"a\" \"xx\" }}",
			"the value exceeds limits.file_size (1Mi)"},
		{"huge output", "{{ $x := repeat 1000000 \"x\" }}{{ range until 100 }}{{ $x }}{{ end }}",
			"the file renders to 2000000 bytes; limits.file_size allows 1Mi"},
		{"endless recursion", "{{ define \"x\" }}{{ template \"x\" }}{{ end }}\n{{ template \"x\" }}",
			"exceeded maximum template depth"},
		{
			"branching recursion",
			"{{ define \"x\" }}{{ if lt . 40 }}{{ template \"x\" (add1 .) }}{{ template \"x\" (add1 .) " +
				"}}{{ end }}{{ end }}{{ template \"x\" 0 }}",
			loops,
		},
		{"a value that refers to itself", "{{ .ConfigData.LOOP }}", "still contains a template ({{) after 8 more passes"},
		{"value with a broken template", "{{ `{{ if }}` }}",
			"in pass 2, in a template that came from a value: line 1: missing value for if"},
		{"address in memory", `{{ printf "%5p" .Labels }}`, "%p prints a memory address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			limits := fleet.DefaultLimits
			limits.FileTime = time.Minute // on a busy machine
			if tt.want == loops {
				limits.FileTime = 500 * time.Millisecond
			}
			got, err := textWithin(
				t.Context(),
				limits,
				&fleet.Template{Meta: fleet.Meta{Name: "t"}, Manifests: []string{tt.manifest}},
				testData(),
			)
			if err == nil {
				t.Fatalf("no error, but %.200q", got)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q\ndoes not contain %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "kalypso_") || strings.Contains(err.Error(), manifestName) {
				t.Errorf("%q contains internal names", err)
			}
		})
	}
}

// TestLimitOfPasses renders chains of values, each of which refers to the next, up to the allowed length and one more.
func TestLimitOfPasses(t *testing.T) {
	chain := func(n int) (string, error) {
		data := testData()
		data.ConfigData = map[string]any{"V0": "end"}
		for i := 1; i <= n; i++ {
			data.ConfigData["V"+string(rune('0'+i))] = "{{ .ConfigData.V" + string(rune('0'+i-1)) + " }}"
		}
		return Text(
			t.Context(),
			&fleet.Template{Manifests: []string{"{{ .ConfigData.V" + string(rune('0'+n)) + " }}"}},
			data,
		)
	}
	if got, err := chain(maxPasses); got != "end" || err != nil {
		t.Errorf("%d values that refer to each other give %q, %v", maxPasses, got, err)
	}
	if _, err := chain(maxPasses + 1); !errors.Is(err, ErrTooManyPasses) {
		t.Errorf("%d values that refer to each other give the error %v", maxPasses+1, err)
	}
}

// TestFunctionsAreHermetic checks that templates can't call functions whose results depend on the clock, the machine or
// chance. A new version of Sprig may add such functions.
func TestFunctionsAreHermetic(t *testing.T) {
	for _, name := range []string{
		"now", "date", "dateInZone", "ago", "toDate", "mustToDate", "htmlDate", "env", "expandenv", "getHostByName", "uuidv4",
		"shuffle",
		"randAlpha", "randAlphaNum", "randAscii", "randNumeric", "randBytes", "randInt", "bcrypt", "htpasswd", "encryptAES",
		"genPrivateKey", "genCA", "genSelfSignedCert", "genSignedCert", presentFunc, repeatFunc,
	} {
		if _, err := template.New("").Funcs(functions).Parse("{{ " + name + " }}"); err == nil {
			t.Errorf("%s can be called", name)
		}
	}
	if want, got := 190, len(functions); got != want {
		t.Errorf(
			"there are %d functions, not %d: check that the results of new ones depend only on their arguments",
			got,
			want,
		)
	}
}
