package configure

import (
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// maxValueDepth limits the nesting depth of a config value.
const maxValueDepth = 100

// parseBounded parses the value of a config key, see [parseValue]. It refuses values that are nested too deep, or that
// have more than maxSize bytes before or after their aliases are expanded.
func parseBounded(text string, maxSize int64) (any, error) {
	if int64(len(text)) > maxSize {
		return nil, fmt.Errorf("has %s; limits.file_size allows %s", fleet.FormatBytes(int64(len(text))),
			fleet.FormatBytes(maxSize))
	}
	v := parseValue(text)
	left := maxSize
	if _, isText := v.(string); !isText && len(text) > maxValueDepth && !spendBytes(v, &left, 0) {
		return nil, fmt.Errorf("exceeds limits.file_size (%s) once its aliases are expanded, or is nested more than %d "+
			"levels deep", fleet.FormatBytes(maxSize), maxValueDepth)
	}
	return v, nil
}

// spendBytes subtracts the bytes of v, with its aliases expanded, from left. It returns false once nothing is left, or
// if v is nested too deep.
func spendBytes(v any, left *int64, depth int) bool {
	*left--
	if *left < 0 || depth > maxValueDepth {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			*left -= int64(len(k))
			if !spendBytes(e, left, depth+1) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !spendBytes(e, left, depth+1) {
				return false
			}
		}
	case string:
		*left -= int64(len(v))
	}
	return *left >= 0
}
