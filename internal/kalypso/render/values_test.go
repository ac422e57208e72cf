package render

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/sprig/v3"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// askingFunctions and printingFunctions list all functions with arguments. A function of a new version of Sprig must be
// added to one of them: asking functions may get a missing value.
const (
	askingFunctions = "all and any coalesce compact contains deepEqual default dig empty eq ge get gt has " +
		"hasKey hasPrefix hasSuffix kindIs kindOf le lt mustCompact mustHas mustRegexMatch ne not " +
		"or regexMatch ternary typeIs typeIsLike typeOf"
	printingFunctions = "abbrev abbrevboth add add1 add1f addf adler32sum append atoi b32dec b32enc b64dec b64enc " +
		"base biggest buildCustomCert call camelcase cat ceil chunk clean concat decryptAES " +
		"deepCopy derivePassword dict dir div divf duration durationRound ext externalSecretSpec " +
		"fail first float64 floor fromJson hash html indent index initial initials int int64 " +
		"isAbs join js kebabcase keys last len list lower max maxf merge mergeOverwrite min minf " +
		"mod mul mulf mustAppend mustChunk mustDateModify mustDeepCopy mustFirst mustFromJson " +
		"mustInitial mustLast mustMerge mustMergeOverwrite mustPrepend mustPush mustRegexFind " +
		"mustRegexFindAll mustRegexReplaceAll mustRegexReplaceAllLiteral mustRegexSplit mustRest " +
		"mustReverse mustSlice mustToJson mustToPrettyJson mustToRawJson mustUniq mustWithout " +
		"must_date_modify nindent nospace omit osBase osClean osDir osExt osIsAbs pick pluck " +
		"plural prepend print printf println push quote regexFind regexFindAll regexQuoteMeta " +
		"regexReplaceAll regexReplaceAllLiteral regexSplit repeat replace rest reverse round " +
		"semver semverCompare seq set sha1sum sha256sum sha512sum slice snakecase sortAlpha split " +
		"splitList splitn squote stringify sub subf substr swapcase title toDecimal toJson " +
		"toPrettyJson toRawJson toString toStrings toYaml trim trimAll trimPrefix trimSuffix " +
		"trimall trunc tuple uniq unixEpoch unquote unset until untilStep untitle upper urlJoin " +
		"urlParse urlquery values without wrap wrapWith"
	goFunctions = "and call eq ge gt index le len lt ne not or"
)

// callsWith returns templates that call a function with the value as one of its arguments, and the arguments before it.
// The last argument is also given by a pipeline.
func callsWith(name, value string) (all []string) {
	var parameters []reflect.Type
	variadic := true
	if f, ok := functions[name]; ok {
		t := reflect.TypeOf(f)
		if of, ok := sprig.HermeticTxtFuncMap()[name]; ok && name != "dig" {
			t = reflect.TypeOf(of)
		}
		parameters, variadic = slices.Collect(t.Ins()), t.IsVariadic()
	} else {
		parameters = []reflect.Type{reflect.TypeFor[any](), reflect.TypeFor[[]any]()}
		if name == "len" || name == "not" {
			parameters, variadic = parameters[:1], false
		}
	}
	if variadic {
		last := parameters[len(parameters)-1].Elem()
		parameters = append(parameters[:len(parameters)-1], last, last, last)
	}
	var arguments []string
	for _, of := range parameters {
		filler := `"a"`
		switch of.Kind() {
		case reflect.Int, reflect.Int64, reflect.Float64, reflect.Uint32:
			filler = "2"
		case reflect.Bool:
			filler = "true"
		case reflect.Map:
			filler = `(dict "k" "v")`
		case reflect.Slice:
			filler = `(list "a" "b")`
		}
		arguments = append(arguments, filler)
	}
	for i := range arguments {
		with := slices.Clone(arguments)
		with[i] = value
		all = append(all, strings.Join(append([]string{name}, with...), " "))
		if i == len(with)-1 {
			all = append(all, value+" | "+strings.Join(append([]string{name}, with[:i]...), " "))
		}
	}
	return all
}

// TestMissingValuesInFunctions gives missing and null values to each function, in each place. An asking function never
// fails for them. Every other function does: where an action prints, sets a variable, loops, or calls a template.
func TestMissingValuesInFunctions(t *testing.T) {
	isAsking := setOf(askingFunctions)
	isKnown := setOf(askingFunctions + " " + printingFunctions)
	for name := range functions {
		if reflect.TypeOf(functions[name]).NumIn() > 0 && !isKnown[name] {
			t.Errorf("%s is not classified: may it get a missing value?", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(isKnown)) {
		if _, ok := functions[name]; !ok && !setOf(goFunctions)[name] {
			t.Errorf("%s is no function", name)
			continue
		}
		for _, value := range []string{".Labels.none", ".ConfigData.M.null", ".ConfigData.none.deeper", "$.Path"} {
			for _, call := range callsWith(name, value) {
				for _, text := range []string{
					"{{ %s }}", "{{ $x := %s }}{{ $x }}", "{{ range (list (%s)) }}{{ . }}{{ end }}", "{{ (%s) | print }}",
					"{{ if $y := 1 }}{{ %s }}{{ end }}", `{{ define "t" }}{{ . }}{{ end }}{{ template "t" (%s) }}`,
					"{{ if true }}{{ %s | quote }}{{ end }}",
				} {
					text = fmt.Sprintf(text, call)
					_, err := Text(t.Context(), &fleet.Template{Manifests: []string{text}}, testData())
					missing := (*MissingValueError)(nil)
					failed := errors.As(err, &missing) && missing.Value == value // not the result of and, for example
					if failed == isAsking[name] && !strings.Contains(fmt.Sprint(err), "wrong number of args") {
						t.Errorf("%s: %v", text, err)
					}
					if failed && missing.Name != strings.TrimPrefix(value, "$") {
						t.Errorf("%s names the value %s", text, missing.Name)
					}
				}
			}
		}
	}
}

// rows returns the results of templates in a file of testdata/values. Each template is a line, and its result the next
// one. Line breaks are written as \n.
func rows(t testing.TB, name string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "values", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	for row := range slices.Chunk(lines, 2) {
		unescaped := strings.ReplaceAll(strings.Join(row, "\n  "), `\n`, "\n")
		text, want, ok := strings.Cut(unescaped, "\n    ")
		if !ok || all[text] != "" {
			t.Fatalf("%s: a template without a result, or twice: %q", name, row)
		}
		all[text] = want
	}
	return all
}

// TestMissingValues checks which uses of a missing value are errors, and that the error names the action, the line and
// the value.
func TestMissingValues(t *testing.T) {
	for text, want := range rows(t, "missing") {

		got, err := Text(t.Context(), &fleet.Template{Manifests: []string{text}}, missingData())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), ownPrefix) {
			t.Errorf("%s gives %q, %v; want the error %s", text, got, err, want)
		}
	}
}

func missingData() Data {
	data := testData()
	data.ConfigData["MAPS"] = []any{map[string]any{"name": "a"}, map[string]any{}}
	return data
}

// TestAsking checks that functions and conditions may ask for missing values.
func TestAsking(t *testing.T) {
	for text, want := range rows(t, "asking") {

		got, err := Text(t.Context(), &fleet.Template{Manifests: []string{text}}, missingData())
		if err != nil || got != want {
			t.Errorf("%s gives %q, %v; want %q", text, got, err, want)
		}
	}
}

// warnings renders a template and returns the warnings.
func warnings(t *testing.T, text string, data Data) string {
	t.Helper()
	p, problems := parseTemplate(&fleet.Template{Meta: fleet.Meta{Name: "t"}, Manifests: []string{text}})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	r := &Renderer{limits: fleet.DefaultLimits}
	in := &assignmentInput{data: data, values: &configure.Values{}, secrets: &configure.Values{}, ofTarget: &targetInput{},
		ofType: &clusterTypeInput{}}
	r.worker(t.Context(), &Buffer{}).file(part{p, fleet.TemplateReconciler, ""}, in)
	var all []string
	for _, w := range r.Warnings() {
		all = append(all, w.Detail)
	}
	return strings.Join(all, "\n\n")
}

// TestGoForm checks which values are reported since they are printed in Go's form, and with which names.
func TestGoForm(t *testing.T) {
	for text, want := range rows(t, "go-form") {

		got := warnings(t, text, missingDataWithout("MAPS"))
		if want == "(none)" {
			if got != "" {
				t.Errorf("%s warns: %s", text, got)
			}
			continue
		}
		listed := problem.IndentedList(strings.Split(want, "\n"), problem.MaxListed)
		if !strings.Contains(got, ":\n"+listed+"\n") || !strings.Contains(got, "toJson, toYaml or stringify") {
			t.Errorf("%s warns: %q, want %q", text, got, want)
		}
	}
}

func missingDataWithout(keys ...string) Data {
	data := missingData()
	for _, k := range keys {
		delete(data.ConfigData, k)
	}
	return data
}

// TestGoFormOfFunctions calls each function with maps and lists. A warning comes if, and only if, the result contains
// one of them in Go's form.
func TestGoFormOfFunctions(t *testing.T) {
	data := testData()
	for value, form := range map[string]string{
		".ConfigData.M": "map[k:v1]", ".ConfigData.L": "[v1 v2]", ".ConfigData.N": "map[k:v1]", ".Labels": "map[k:v1]",
	} {
		data.Labels = map[string]string{"k": "v1"}
		data.ConfigData = map[string]any{
			"M": map[string]any{"k": "v1"}, "L": []any{"v1", "v2"}, "N": []any{map[string]any{"k": "v1"}},
		}
		for name := range functions {
			if reflect.TypeOf(functions[name]).NumIn() == 0 || name == "dict" { // dict makes texts of its keys alone
				continue
			}
			for _, call := range callsWith(name, value) {
				text := "{{ " + call + " | toYaml }}"
				got, err := Text(t.Context(), &fleet.Template{Manifests: []string{text}}, data)
				if err != nil {
					continue
				}
				want := strings.Contains(got, form) || strings.Contains(got, url.QueryEscape(form))
				if got := warnings(t, text, data) != ""; got != want {
					t.Errorf("%s warns: %t, want %t", text, got, want)
				}
			}
		}
	}
}

// TestDicts checks that the functions of dicts work with all maps of the data, and that a change is only seen in the
// rest of the manifest.
func TestDicts(t *testing.T) {
	plainData := func() Data {
		data := testData()
		delete(data.ConfigData, "LOOP")
		delete(data.ConfigData, "T")
		return data
	}
	before := fmt.Sprint(plainData())
	for text, want := range rows(t, "dicts") {
		data := plainData()
		got, err := Text(t.Context(), &fleet.Template{Manifests: []string{text, "{{ print . }}"}}, data)
		if whole := want + "\n---\n" + before; err != nil || got != whole {
			t.Errorf("%s gives %q, %v; want %q", text, got, err, whole)
		}
		if after := fmt.Sprint(data); after != before {
			t.Errorf("%s changes the data to %s", text, after)
		}
	}
	for text, want := range map[string]string{
		`{{ set .Labels "a" 1 }}`:                       "the values of this map are texts",
		`{{ merge .Labels (dict "a" (list 1)) | len }}`: `that of "a" would not be`,
		`{{ hasKey "text" "a" }}`:                       "expected a map, got string",
		`{{ keys .Labels 3 }}`:                          "expected a map, got int",
		`{{ dig "a" "x" 3 }}`:                           "expected a map, got int",
		`{{ dig "a" "b" }}`:                             "at least three arguments",
		`{{ dig 1 "b" .Labels }}`:                       "expected a text, got int",
		`{{ dig "S" "a" "b" .ConfigData }}`:             "expected a map, got string",
	} {
		got, err := Text(t.Context(), &fleet.Template{Manifests: []string{text}}, testData())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %q, %v; want the error %s", text, got, err, want)
		}
	}
}

// FuzzValues renders any template: it never panics, prints no missing value, and no error contains internal names.
// Wherever text/template gives a result and no function gets a missing value, the result is the same.
func FuzzValues(f *testing.F) {
	for _, name := range []string{"missing", "asking", "go-form", "dicts"} {
		for text := range rows(f, name) {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		data := testData()
		delete(data.ConfigData, "LOOP")
		got, err := Text(t.Context(), &fleet.Template{Manifests: []string{text}}, data)
		if err != nil {
			if strings.Contains(err.Error(), ownPrefix) && !strings.Contains(text, ownPrefix) {
				t.Errorf("%q fails with %v", text, err)
			}
			return
		}
		if strings.Contains(text, "<") || strings.Contains(text, "no value") || strings.Contains(text, "index") {
			return
		}
		if strings.Contains(got, "<no value>") {
			t.Errorf("%q gives %q", text, got)
		}
		want, err := renderWhole(text, data)
		if err == nil && got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	})
}
