package tfvalue

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
)

// Values contains the arguments of one object as Go values: string, bool, *int, []string, exactStrings,
// map[string]string, values, []values, map[string]values.
type Values map[string]any

// ExactStrings is a list of strings in which empty and null differ.
type ExactStrings []string

// Encode converts v, which has a type of [Values], to a value of type t as a configuration has it: absent and empty
// values are null, so that generated configuration leaves them out. See [terraformJSON] for strings.
func Encode(t attr.Type, v any) attr.Value { return Result(t, configured(v)) }

// configured returns v for [Result], with nil for each value that a configuration leaves out.
func configured(v any) any {
	switch v := v.(type) {
	case nil:
	case string:
		return OrNil(terraformJSON(v))
	case bool:
		if v {
			return v
		}
	case *int:
		if v != nil {
			return *v
		}
	case ExactStrings:
		if v != nil {
			return []string(v)
		}
	case []string:
		if len(v) > 0 {
			return v
		}
	case map[string]string:
		if len(v) > 0 {
			return v
		}
	case Values:
		if v != nil {
			return configuredObject(v)
		}
	case []Values:
		var all []Values
		for _, object := range v {
			all = append(all, configuredObject(object))
		}
		if len(all) > 0 {
			return all
		}
	case map[string]Values:
		all := make(map[string]Values, len(v))
		for key, object := range v {
			all[key] = configuredObject(object)
		}
		if len(all) > 0 {
			return all
		}
	default:
		panic(fmt.Sprintf("no model has a %T", v))
	}
	return nil
}

func configuredObject(object Values) Values {
	all := make(Values, len(object))
	for name, v := range object {
		all[name] = configured(v)
	}
	return all
}
