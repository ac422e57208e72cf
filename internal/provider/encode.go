package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
)

// values contains the arguments of one object as Go values: string, bool, *int, []string, exactStrings,
// map[string]string, values, []values, map[string]values.
type values map[string]any

// exactStrings is a list of strings in which empty and null differ.
type exactStrings []string

// encode converts v, which has a type of [values], to a value of type t as a configuration has it: absent and empty
// values are null, so that generated configuration leaves them out. See [terraformJSON] for strings.
func encode(t attr.Type, v any) attr.Value { return result(t, configured(v)) }

// configured returns v for [result], with nil for what a configuration leaves out.
func configured(v any) any {
	switch v := v.(type) {
	case nil:
	case string:
		return orNil(terraformJSON(v))
	case bool:
		if v {
			return v
		}
	case *int:
		if v != nil {
			return *v
		}
	case exactStrings:
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
	case values:
		if v != nil {
			return configuredObject(v)
		}
	case []values:
		var all []values
		for _, object := range v {
			all = append(all, configuredObject(object))
		}
		if len(all) > 0 {
			return all
		}
	case map[string]values:
		all := make(map[string]values, len(v))
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

func configuredObject(object values) values {
	all := make(values, len(object))
	for name, v := range object {
		all[name] = configured(v)
	}
	return all
}
