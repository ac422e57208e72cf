package configure

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// maxValueDepth limits the nesting depth of a config value.
const maxValueDepth = 100

// checkValues reports values that exceed most bytes once their aliases are expanded, or are nested too deep. It marks
// them as unknown, so later stages do not report them again.
func (s *source) checkValues(most int64) (problems problem.Problems) {
	defer problem.NamePanic(string(s.object.Kind()), s.object.Metadata().Name)
	refused := map[string]error{}
	for k, text := range s.texts {
		if err := checkValue(text, most); err != nil {
			refused[k] = err
		}
	}
	if len(refused) == 0 {
		return nil
	}
	s.texts = maps.Clone(s.texts)
	for _, k := range slices.Sorted(maps.Keys(refused)) {
		delete(s.texts, k)
		s.markUnknown(k)
		key, err := k, refused[k]
		if s.path != "" {
			key = s.path
		}
		problems = append(problems, fleet.ProblemOf(s.object, problem.Problem{
			Path:    []problem.Step{problem.Attr("data"), problem.Key(key)},
			Summary: "Config value too large",
			Detail:  fmt.Sprintf("The value of %q %s.", key, err),
			Err:     err,
		}))
	}
	return problems
}

func checkValue(text string, most int64) error {
	if int64(len(text)) > most {
		return fmt.Errorf("has %s; limits.file_size allows %s", fleet.FormatBytes(int64(len(text))), fleet.FormatBytes(most))
	}
	if len(text) <= maxValueDepth || !mayGrow(text) && !mayBeDeep(text) {
		return nil // without parsing it
	}
	out := expandedSize{left: most}
	if !out.add(parseValue(text), 0) {
		return fmt.Errorf("exceeds limits.file_size (%s) once its aliases are expanded, or is nested more than %d levels "+
			"deep",
			fleet.FormatBytes(most), maxValueDepth)
	}
	return nil
}

// mayGrow reports whether a YAML text may have aliases, which expand to more text.
func mayGrow(text string) bool { return strings.Contains(text, "&") && strings.Contains(text, "*") }

// mayBeDeep reports whether a YAML text may be nested too deep. It counts open brackets and the indentation of lines.
func mayBeDeep(text string) bool {
	brackets := 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{':
			if brackets++; brackets > maxValueDepth/2 {
				return true
			}
		case ']', '}':
			brackets = max(brackets-1, 0)
		}
	}
	for line := range strings.Lines(text) {
		if len(line)-len(strings.TrimLeft(line, " -?:")) > maxValueDepth/4 {
			return true
		}
	}
	return false
}

// expandedSize counts the bytes of a value with its aliases expanded.
type expandedSize struct{ left int64 }

// add counts v. It returns false once v has too many bytes or is nested too deep.
func (w *expandedSize) add(v any, depth int) bool {
	w.left--
	if w.left < 0 || depth > maxValueDepth {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			w.left -= int64(len(k))
			if !w.add(e, depth+1) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !w.add(e, depth+1) {
				return false
			}
		}
	case string:
		w.left -= int64(len(v))
	}
	return w.left >= 0
}
