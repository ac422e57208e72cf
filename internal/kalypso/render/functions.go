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

// notHermetic lists the functions in Sprig's hermetic map whose result still depends on the clock, the time zone or
// randomness.
var notHermetic = []string{
	"ago", "toDate", "mustToDate", "shuffle", "randInt", "bcrypt", "htpasswd", "encryptAES", "genPrivateKey",
	"genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey",
}

// mutating lists the functions that change a map in place. A template that calls one gets a copy of its data.
var mutating = map[string]bool{
	"set": true, "unset": true, "merge": true, "mergeOverwrite": true, "mustMerge": true, "mustMergeOverwrite": true,
}

// functions are the functions of templates: Kalypso's own, and Sprig's without clock, randomness, environment,
// network and files. They give the same result on every machine.
var functions = func() template.FuncMap {
	fs := sprig.HermeticTxtFuncMap()
	for _, name := range notHermetic {
		delete(fs, name)
	}
	maps.Copy(fs, template.FuncMap{
		// Sprig's versions use the machine's path separator.
		"osBase":  path.Base,
		"osDir":   path.Dir,
		"osClean": path.Clean,
		"osExt":   path.Ext,
		"osIsAbs": path.IsAbs,
		// Sprig's versions use the order of the map.
		"keys":   keys,
		"values": values,
		// Sprig's version panics at a map of texts, and at a null value on the path.
		"dig": dig,
		// Sprig's versions overflow near the largest integer, and then never end.
		"until":     until,
		"untilStep": untilStep,
		"seq":       seq,
		// These are Go's own functions. They are listed here so that their results have bounds too.
		"print":    fmt.Sprint,
		"println":  fmt.Sprintln,
		"html":     template.HTMLEscaper,
		"js":       template.JSEscaper,
		"urlquery": template.URLQueryEscaper,
		// Go's version can print memory addresses.
		"printf": printf,

		"toYaml":    toYAML,
		"stringify": stringify,
		"hash":      hash,
		"unquote":   unquote,

		"externalSecretSpec": externalSecretSpec,
	})
	acceptMaps(fs)
	return fs
}()

func toYAML(v any) (string, error) {
	text, err := marshalYAML(v)
	return strings.TrimSuffix(text, "\n"), err
}

// ValueText returns a value of the platform configuration as the built-in config template writes it: a string
// unchanged, a map or list as YAML.
func ValueText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := marshalYAML(v)
	if err != nil { // a text that YAML can't contain
		written, _ := yaml.Marshal(v)
		return string(written)
	}
	return text
}

// stringify returns the YAML of a map, with nested maps and lists as YAML text, as a ConfigMap's data must be. For
// any other value it returns its YAML.
func stringify(v any) (string, error) {
	data, ok := v.(map[string]any)
	if !ok {
		m := reflect.ValueOf(v)
		if m.Kind() != reflect.Map || m.Type().Key().Kind() != reflect.String {
			return toYAML(v)
		}
		data = make(map[string]any, m.Len())
		for k, v := range m.Seq2() {
			data[k.String()] = v.Interface()
		}
	}
	flat := make(map[string]any, len(data))
	for k, value := range data {
		switch reflect.ValueOf(value).Kind() {
		case reflect.Map, reflect.Slice, reflect.Array:
			text, err := marshalYAML(value)
			if err != nil {
				return "", fmt.Errorf("%s: %w", k, err)
			}
			value = text
		}
		flat[k] = value
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
		return "", fmt.Errorf("printf: %%p prints a memory address, which changes each time")
	}
	return fmt.Sprintf(format, args...), nil
}

func until(count int) ([]int, error) {
	if count < 0 {
		return untilStep(0, count, -1)
	}
	return untilStep(0, count, 1)
}

func untilStep(start, stop, step int) (numbers []int, err error) {
	for n := range steps(start, stop, step) {
		if n == stop {
			break
		}
		numbers = append(numbers, n)
		if len(numbers) > maxNumbers { // no loop can use more numbers
			return nil, boundError("it would return more than %d numbers", maxNumbers)
		}
	}
	return numbers, nil
}

// seq is Sprig's seq with "end", "start end" or "start step end". It returns the numbers, including the end,
// separated by spaces.
func seq(params ...int) (string, error) {
	var start, step, end int
	switch len(params) {
	case 1:
		start, step, end = 1, 1, params[0]
	case 2:
		start, step, end = params[0], 1, params[1]
	case 3:
		start, step, end = params[0], params[1], params[2]
	default:
		return "", nil
	}
	if end < start && len(params) < 3 {
		step = -1
	}
	var texts []string
	for n := range steps(start, end, step) {
		texts = append(texts, strconv.Itoa(n))
		if len(texts) > maxNumbers {
			return "", boundError("it would return more than %d numbers", maxNumbers)
		}
	}
	return strings.Join(texts, " "), nil
}

// steps yields the numbers from start to at most end.
func steps(start, end, step int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := start; step > 0 && n <= end || step < 0 && n >= end; {
			before := n
			n += step
			if !yield(before) || (n > before) != (step > 0) { // n overflowed
				return
			}
		}
	}
}
