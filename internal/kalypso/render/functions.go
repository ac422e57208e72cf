package render

import (
	"fmt"
	"iter"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"github.com/mitchellh/hashstructure/v2"
	"go.yaml.in/yaml/v3"
)

// notHermetic are functions of Sprig that its hermetic map still has, and whose result depends on the clock, the time
// zone or chance.
var notHermetic = []string{
	"ago", "toDate", "mustToDate", "shuffle", "randInt", "bcrypt", "htpasswd", "encryptAES", "genPrivateKey",
	"genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey",
}

// mutating are functions that change a map in place: a template that calls one gets its data as a copy.
var mutating = map[string]bool{
	"set": true, "unset": true, "merge": true, "mergeOverwrite": true, "mustMerge": true, "mustMergeOverwrite": true,
}

// functions are those that a template may call: Sprig's, without clock, randomness, environment, network and file, and
// the same on every machine; and Kalypso's own.
var functions = func() template.FuncMap {
	fs := sprig.HermeticTxtFuncMap()
	for _, name := range notHermetic {
		delete(fs, name)
	}
	maps.Copy(fs, template.FuncMap{
		// Sprig's follow the machine's path separator.
		"osBase": path.Base, "osDir": path.Dir, "osClean": path.Clean, "osExt": path.Ext, "osIsAbs": path.IsAbs,
		// Sprig's follow the order of the map.
		"keys": keys, "values": values,
		// Sprig's count on for ever near the largest number.
		"until": until, "untilStep": untilStep, "seq": seq,
		// Go's are here to be metered.
		"print": fmt.Sprint, "println": fmt.Sprintln, "html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
		// Go's can print where a value lies in memory.
		"printf": printf,

		"toYaml":    toYAML,
		"stringify": stringify,
		"hash":      hash,
		"unquote":   unquote,
	})
	return fs
}()

func toYAML(v any) (string, error) {
	text, err := marshalYAML(v)
	return strings.TrimSuffix(text, "\n"), err
}

func marshalYAML(v any) (string, error) {
	text, err := yaml.Marshal(v) // it panics on what it can't write; text/template makes that an error
	return string(text), err
}

// ValueText is a value of the platform configuration as the built-in config template writes it: text as it is, a map or a
// list as YAML.
func ValueText(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return marshalYAML(v)
}

// stringify is the YAML of a map whose maps and lists are YAML text, as a ConfigMap's data must be; of anything else
// its YAML.
func stringify(v any) (string, error) {
	m := reflect.ValueOf(v)
	if m.Kind() != reflect.Map || m.Type().Key().Kind() != reflect.String {
		return toYAML(v)
	}
	flat := make(map[string]any, m.Len())
	for k, v := range m.Seq2() {
		value := v.Interface()
		switch reflect.ValueOf(value).Kind() {
		case reflect.Map, reflect.Slice, reflect.Array:
			text, err := marshalYAML(value)
			if err != nil {
				return "", fmt.Errorf("%s: %w", k, err)
			}
			value = text
		}
		flat[k.String()] = value
	}
	return toYAML(flat)
}

func hash(v any) (string, error) {
	h, err := hashstructure.Hash(v, hashstructure.FormatV1, nil)
	return strconv.FormatUint(h, 10), err
}

func unquote(v any) string {
	s, _ := v.(string)
	return strings.Trim(strings.Trim(strings.TrimSpace(s), `"`), `'`)
}

func keys(dicts ...map[string]any) []string {
	var all []string
	for _, d := range dicts {
		all = append(all, slices.Sorted(maps.Keys(d))...)
	}
	return all
}

func values(dict map[string]any) []any {
	all := make([]any, 0, len(dict))
	for _, k := range slices.Sorted(maps.Keys(dict)) {
		all = append(all, dict[k])
	}
	return all
}

var pointerVerb = regexp.MustCompile(`%[-+# 0-9.*\[\]]*p`)

func printf(format string, args ...any) (string, error) {
	if pointerVerb.MatchString(strings.ReplaceAll(format, "%%", "")) {
		return "", fmt.Errorf("printf: %%p is a place in memory, another one each time")
	}
	return fmt.Sprintf(format, args...), nil
}

func until(count int) []int {
	if count < 0 {
		return untilStep(0, count, -1)
	}
	return untilStep(0, count, 1)
}

func untilStep(start, stop, step int) []int {
	return slices.Collect(func(yield func(int) bool) {
		for n := range steps(start, stop, step) {
			if n == stop || !yield(n) {
				return
			}
		}
	})
}

// seq is Sprig's: "end", "start end" or "start step end", the numbers between with blanks, the end included.
func seq(params ...int) string {
	var start, step, end int
	switch len(params) {
	case 1:
		start, step, end = 1, 1, params[0]
	case 2:
		start, step, end = params[0], 1, params[1]
	case 3:
		start, step, end = params[0], params[1], params[2]
	default:
		return ""
	}
	if end < start && len(params) < 3 {
		step = -1
	}
	var texts []string
	for n := range steps(start, end, step) {
		texts = append(texts, strconv.Itoa(n))
	}
	return strings.Join(texts, " ")
}

// steps are the numbers from start to end, both included where a step leads there.
func steps(start, end, step int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := start; step > 0 && n <= end || step < 0 && n >= end; {
			before := n
			if n += step; !yield(before) || (n > before) != (step > 0) { // it overflowed
				return
			}
		}
	}
}
