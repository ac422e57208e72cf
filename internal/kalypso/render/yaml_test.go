package render

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// hardParts are parts of texts that YAML has a rule for.
var hardParts = []string{
	"a", "b c", "é", "東", "\U0001f600", "0", "1e3", "0x1F", "017", "12:30", "true", "no", "~", "null", "=", "<<", ".inf",
	"2001-02-03", " ", "  ", "\t", "\n", "\n", "\n\n", "\r", "\r\n", "\u0085", "\u00a0", "\u2028", "\u2029", "\ufeff",
	"\u200b", "\u00ad", "\U0010ffff", "\ufffd", "\x01", "\x1b", "\b", "'", `"`, `\`, `\n`, "#", " #", ":", ": ", ",", "[",
	"]", "{", "}", "&a", "*a", "!", "!!str ", "|", ">", "%", "@", "`", "-", "- ", "?", "? ", "---", "\n---\n", "...",
	"--- a", strings.Repeat("x", 70), strings.Repeat("long words ", 20),
}

func hardText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(7) {
		b.WriteString(hardParts[r.IntN(len(hardParts))])
	}
	return strings.ReplaceAll(b.String(), "{{", "{ {") // no template
}

// hardValue returns a text, map or list of hard texts.
func hardValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case depth > 0 && n == 0:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, hardValue(r, depth-1))
		}
		return list
	case depth > 0 && n < 3:
		m := map[string]any{}
		for range r.IntN(4) {
			m[hardText(r)] = hardValue(r, depth-1)
		}
		return m
	case n == 3:
		return []any{1, 1.5, true, nil, json.Number("12345678901234567890123"), uint64(1<<64 - 1)}[r.IntN(6)]
	}
	return hardText(r)
}

// readers read YAML as kubectl and as kustomize do.
var readers = map[string]func(text string, v any) error{
	"kubectl":   func(text string, v any) error { return yaml.Unmarshal([]byte(text), v) },
	"kustomize": func(text string, v any) error { return yaml3.Unmarshal([]byte(text), v) },
}

// TestEveryTextReadsBack writes random texts, maps and lists with toYaml and stringify. Each must be read as it was, by
// kubectl and by kustomize.
func TestEveryTextReadsBack(t *testing.T) {
	for seed := range seeds.Of(t, 10_000, 100_000) {
		value := hardValue(rand.New(rand.NewPCG(seed, 79)), 3)
		checkReadsBack(t, value, []string{"toYaml", "stringify"}[seed%2], int(seed%4))
	}
}

// checkReadsBack writes a value with a function and an indentation, and reads it.
func checkReadsBack(t *testing.T, value any, function string, indent int) {
	t.Helper()
	object := map[string]any{"value": value, "z": "end"}
	template := fmt.Sprintf("data:\n{{ %s .ConfigData | indent %d }}\n", function, indent+1)
	text, err := Text(t.Context(), &fleet.Template{Manifests: []string{template}}, Data{ConfigData: object})
	if err != nil {
		t.Fatalf("%s of %#v: %v", function, value, err)
	}
	for name, read := range readers {
		var got struct{ Data map[string]any }
		if err := read(text, &got); err != nil {
			t.Fatalf("%s can't read %s of %#v: %v\n%s", name, function, value, err, text)
		}
		if function == "stringify" && !isScalar(value) {
			var inner any
			nested, _ := got.Data["value"].(string)
			if err := read(nested, &inner); err != nil {
				t.Fatalf("%s can't read the text of %#v: %v\n%s", name, value, err, nested)
			}
			got.Data["value"] = inner
		}
		if d := cmp.Diff(plain(object), plain(got.Data)); d != "" {
			t.Fatalf("%s reads %s of %#v (-want +got):\n%s\n%s", name, function, value, d, text)
		}
	}
}

func isScalar(v any) bool {
	switch reflect.ValueOf(v).Kind() {
	case reflect.Map, reflect.Slice:
		return false
	}
	return true
}

// plain returns a value with its numbers as floats, as JSON has them.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for k, element := range v {
			m[k] = plain(element)
		}
		return m
	case []any:
		list := []any{}
		for _, element := range v {
			list = append(list, plain(element))
		}
		return list
	case int:
		return float64(v)
	case uint64:
		return float64(v)
	case json.Number:
		f, _ := v.Float64()
		return f
	}
	return v
}

// renderValues renders config values with the config template of a cluster type; empty means the built-in one. It also
// returns the merged values.
func renderValues(t *testing.T, values map[string]string, template string) (string, map[string]any, error) {
	t.Helper()
	r := rendererOf(t, values, template, nil)
	text, err := fileOf(t, r)
	return text, r.config.Of(0, 0).Values.Merge().Data, err
}

// renderFleet renders config values for a deployment target with these manifests.
func renderFleet(t *testing.T, values map[string]string, template string, manifests map[string]string) (string, error) {
	t.Helper()
	return fileOf(t, rendererOf(t, values, template, manifests))
}

func fileOf(t *testing.T, r *Renderer) (string, error) {
	t.Helper()
	result := r.Assignment(t.Context(), 0, 0, &Buffer{})
	switch {
	case len(result.Failures) > 0:
		return "", result.Failures[0].Err
	case result.Files[0].Unknown:
		return "(unknown)", nil
	}
	return string(result.Files[0].Content), nil
}

func rendererOf(t *testing.T, values map[string]string, template string, manifests map[string]string) *Renderer {
	t.Helper()
	f := &fleet.Fleet{
		Environment:  "dev",
		ClusterTypes: []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large"}}},
		Policies:     []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}},
		Configs: []*fleet.Config{{
			Meta: fleet.Meta{Name: "settings", Labels: map[string]string{fleet.PlatformConfigLabel: "true"}}, Data: values,
		}},
		Workloads: []*fleet.Workload{{Meta: fleet.Meta{Name: "app"}, Targets: []fleet.Target{
			{Name: "test", Environment: "dev", Labels: map[string]string{"team": "blue"}, Manifests: manifests},
		}}},
	}
	if template != "" {
		f.ClusterTypes[0].ConfigType = "config"
		f.Templates = []*fleet.Template{
			{Meta: fleet.Meta{Name: "config"}, Type: fleet.TemplateConfig, Manifests: []string{template}},
		}
	}
	s, _ := schedule.New(t.Context(), f, placement.PriorResults{})
	config, problems := configure.New(t.Context(), f, s)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	r, problems := New(t.Context(), f, s, config, nil)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return r
}

// templatesOfValues are templates that print all values as YAML.
var templatesOfValues = map[string]string{
	"built-in":  "",
	"toYaml":    "data:\n{{ toYaml .ConfigData | indent 2 }}\n",
	"stringify": "data: {{ stringify .ConfigData | nindent 4 }}\n",
	"a loop":    "data:{{ range $k, $v := .ConfigData }}{{ toYaml (dict $k $v) | nindent 2 }}{{ end }}\n",
}

// TestEveryValueArrives renders random config values with the built-in template, and with templates of users. Each
// value that stays a text must be read as it was written.
func TestEveryValueArrives(t *testing.T) {
	texts := 0
	for seed := range seeds.Of(t, 1_000, 10_000) {
		r := rand.New(rand.NewPCG(seed, 80))
		values := map[string]string{}
		for i := range 10 {
			values[fmt.Sprint("k", i)] = strings.ReplaceAll(hardText(r), ".inf", "inf") // JSON has no such number
		}
		for name, template := range templatesOfValues {
			text, data, err := renderValues(t, values, template)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
			texts += checkValues(t, data, text)
			if t.Failed() {
				t.Fatalf("seed %d, %s", seed, name)
			}
		}
	}
	if !seeds.Single() && texts < 30_000 {
		t.Errorf("only %d values were texts", texts)
	}
}

// checkValues compares the texts in a rendered file with the config values. It returns their number.
func checkValues(t *testing.T, data map[string]any, text string) (texts int) {
	t.Helper()
	for name, read := range readers {
		var got struct{ Data map[string]any }
		if err := read(text, &got); err != nil {
			t.Fatalf("%s can't read the values %q: %v\n%s", name, data, err, text)
		}
		for k, value := range data {
			if _, isText := value.(string); !isText {
				continue
			}
			texts++
			if got.Data[k] != value {
				t.Errorf("%s reads the value %q as %q\n%s", name, value, got.Data[k], text)
			}
		}
	}
	return texts
}

// TestTextsThatYAMLCannotContain checks that an error names the config and the key of a text that kustomize can't
// write.
func TestTextsThatYAMLCannotContain(t *testing.T) {
	for name, bad := range map[string]string{
		"NUL":        "a\x00b",
		"DEL":        "a\x7fb",
		"C1":         "caf\u00e9 \u0092s best",
		"first C1":   "\u0080",
		"last C1":    "\u009f",
		"U+FFFE":     "a\ufffe",
		"U+FFFF":     "\uffff",
		"not UTF-8":  "a\xff",
		"surrogates": "\xed\xa0\x80",
	} {
		for by, template := range templatesOfValues {
			for _, data := range []map[string]any{
				{"ok": "ok", "KEY": bad}, {"ok": "ok", "KEY": []any{map[string]any{"in": bad}}},
				{"ok": "ok", "KEY": map[string]any{bad: "in"}},
			} {
				manifest := template
				if manifest == "" {
					manifest = builtinConfig.Manifests[0]
				}
				_, err := Text(t.Context(), &fleet.Template{Manifests: []string{manifest}}, Data{ConfigData: data})
				if err == nil || !strings.Contains(err.Error(), `the value of "KEY"`) || !utf8.ValidString(err.Error()) {
					t.Errorf("%s, %s: %v", name, by, err)
				}
			}
			if name == "NUL" || !utf8.ValidString(bad) {
				continue
			}
			_, _, err := renderValues(t, map[string]string{"ok": "ok", "KEY": bad}, template)
			if err == nil || !strings.Contains(err.Error(), `the value of "KEY" of the config "settings"`) {
				t.Errorf("%s, %s: %v", name, by, err)
			}
		}
	}
	long := strings.Repeat("k", 1025)
	_, _, err := renderValues(t, map[string]string{"KEY": "? " + long + "\n: v\n"}, "")
	if err == nil || !strings.Contains(err.Error(), `the value of "KEY" of the config "settings"`) {
		t.Errorf("a long key: %v", err)
	}
	if text, _, err := renderValues(t, map[string]string{"KEY": "? " + long[:1000] + "\n: v\n"}, ""); err != nil {
		t.Errorf("a key of 1000 characters: %v\n%s", err, text)
	}
}

// TestOperatorsBytes checks that a value which is read back is written as yaml.v3 writes it.
func TestOperatorsBytes(t *testing.T) {
	for seed := range seeds.Of(t, 3_000, 30_000) {
		value := hardValue(rand.New(rand.NewPCG(seed, 81)), 2)
		written, err := yaml3.Marshal(map[string]any{"v": value})
		if err != nil {
			t.Fatal(err)
		}
		if hasNumber(value) || strings.ContainsAny(string(written), "\u2028\u2029") || !readByAll(string(written), value) {
			continue
		}
		got, err := toYAML(map[string]any{"v": value})
		if err != nil || got+"\n" != string(written) {
			t.Fatalf("seed %d: %#v is written as\n%s\nnot as yaml.v3 writes it:\n%s (%v)", seed, value, got, written, err)
		}
	}
}

func readByAll(text string, want any) bool {
	for _, read := range readers {
		var got map[string]any
		if read(text, &got) != nil || !cmp.Equal(plain(got["v"]), plain(want)) {
			return false
		}
	}
	return true
}

func hasNumber(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return true
	case []any:
		return slices.ContainsFunc(v, hasNumber)
	case map[string]any:
		for _, element := range v {
			if hasNumber(element) {
				return true
			}
		}
	}
	return false
}

// TestResultsAreUTF8 checks that a result, or an error, never contains bytes that are no text.
func TestResultsAreUTF8(t *testing.T) {
	for _, template := range []string{
		`x{{ "gIA=" | b64dec }}`, `{{ trunc 1 "é" }}`, `{{ fail (b64dec "gIA=") }}`, `{{ atoi (b64dec "gIA=") | b64dec }}`,
		`{{ printf "{{ %s }}" (b64dec "gIA=") }}`,
		`{{ b64dec "gIA=" | regexFind "(" }}`, `{{ toJson (b64dec "gIA=") | fail }}`,
		`{{ initials "éa" | trunc 1 }}`, `{{ "é" | substr 0 1 }}`, `{{ abbrev 4 "éééééé" }}`, `{{ toYaml (b64dec "gIA=") }}`,
		`{{ dict (b64dec "gIA=") 1 | stringify }}`,
	} {
		text, err := Text(t.Context(), &fleet.Template{ContentType: "sh", Manifests: []string{"a\n", template}}, Data{})
		if err == nil && !utf8.ValidString(text) || err != nil && !utf8.ValidString(err.Error()) {
			t.Errorf("%s gives %q, %q", template, text, err)
		}
	}
}

// FuzzText writes any text as a value, and in a map and a list.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"\tone\ntwo\n", "one\ntwo\u2028three\n", "\n\ta", " \n a", "\ufeffa", "a\u0085", "---\na", "a\r", "\r\n", "- \t",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if checkText(text) != nil || checkKey(text) != nil || strings.Contains(text, "{{") {
			return
		}
		for _, function := range []string{"toYaml", "stringify"} {
			checkReadsBack(t, text, function, 0)
			checkReadsBack(t, []any{text, map[string]any{"a": text, text: []any{text}}}, function, 1)
		}
	})
}
