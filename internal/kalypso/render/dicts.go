package render

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"text/template"
)

// acceptMaps makes the functions of dicts accept all maps with text keys, such as .Labels. A function that changes a
// map changes it in place: see [Data.clone].
func acceptMaps(fs template.FuncMap) {
	for name, f := range fs {
		t := reflect.TypeOf(f)
		if slices.ContainsFunc(slices.Collect(t.Ins()), isDict) {
			fs[name] = acceptingMaps(name, reflect.ValueOf(f))
		}
	}
}

var anyType, dictType = reflect.TypeFor[any](), reflect.TypeFor[map[string]any]()

// isDict reports whether a parameter is a dict, or the parameter of any number of dicts.
func isDict(t reflect.Type) bool { return t == dictType || t == reflect.SliceOf(dictType) }

// acceptingMaps returns a function like f that accepts any map in place of a dict.
func acceptingMaps(name string, f reflect.Value) any {
	t := f.Type()
	in := slices.Collect(t.Ins())
	for i := range in {
		switch {
		case in[i] == dictType:
			in[i] = anyType
		case isDict(in[i]):
			in[i] = reflect.SliceOf(anyType)
		}
	}
	out := []reflect.Type{t.Out(0), reflect.TypeFor[error]()}
	if mutating[name] {
		out[0] = anyType
	}
	call := f.Call
	if t.IsVariadic() {
		call = f.CallSlice
	}
	run := func(args []reflect.Value) []reflect.Value {
		dicts, err := dictArguments(t, args)
		if err == nil {
			results := call(dicts)
			if len(results) > 1 && !results[1].IsNil() {
				return results
			}
			texts, ok := args[0].Interface().(map[string]string)
			if !ok || !mutating[name] {
				return []reflect.Value{results[0].Convert(out[0]), reflect.Zero(out[1])}
			}
			if err = setTexts(texts, dicts[0]); err == nil {
				return []reflect.Value{args[0], reflect.Zero(out[1])}
			}
		}
		return []reflect.Value{reflect.Zero(out[0]), reflect.ValueOf(fmt.Errorf("%s: %w", name, err))}
	}
	return reflect.MakeFunc(reflect.FuncOf(in, out, t.IsVariadic()), run).Interface()
}

// dictArguments returns the arguments of a function of this type, with dicts in place of other maps.
func dictArguments(t reflect.Type, args []reflect.Value) ([]reflect.Value, error) {
	dicts := slices.Clone(args)
	for i, arg := range args {
		var err error
		switch {
		case t.In(i) == dictType:
			dicts[i], err = dictArgument(arg)
		case isDict(t.In(i)):
			dicts[i] = reflect.MakeSlice(t.In(i), 0, arg.Len())
			for n := 0; n < arg.Len() && err == nil; n++ {
				var dict reflect.Value
				dict, err = dictArgument(arg.Index(n))
				dicts[i] = reflect.Append(dicts[i], dict)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return dicts, nil
}

// dictArgument returns the argument of a dict.
func dictArgument(arg reflect.Value) (reflect.Value, error) {
	dict, err := toDict(arg.Interface())
	return reflect.ValueOf(dict), err
}

// toDict returns a value as a dict. A map of other values is copied, and a missing value is an empty dict.
func toDict(v any) (map[string]any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil //nolint:nilnil // an empty dict
	case map[string]any:
		return v, nil
	case map[string]string:
		return dictOf(v), nil
	}
	return nil, fmt.Errorf("wrong type of value: expected a map, got %T", v)
}

func dictOf(texts map[string]string) map[string]any {
	dict := make(map[string]any, len(texts))
	for k, text := range texts {
		dict[k] = text
	}
	return dict
}

// setTexts makes a map of texts the same as a dict.
func setTexts(texts map[string]string, of reflect.Value) error {
	dict, _ := of.Interface().(map[string]any)
	changed := make(map[string]string, len(dict))
	for _, k := range slices.Sorted(maps.Keys(dict)) {
		text, ok := dict[k].(string)
		if !ok {
			return fmt.Errorf("the values of this map are texts, and that of %q would not be. Change a copy of the map: "+
				"merge (dict) and the map", k)
		}
		changed[k] = text
	}
	clear(texts)
	maps.Copy(texts, changed)
	return nil
}

// dig returns the value at the end of a path of keys, or the default if one of the maps on the path, or the key in it,
// is missing or null. The last two arguments are the default and the map.
func dig(args ...any) (any, error) {
	const least = 3
	if len(args) < least {
		return nil, fmt.Errorf("dig needs at least three arguments: keys, a default and a map")
	}
	otherwise, value := args[len(args)-2], args[len(args)-1]
	for _, k := range args[:len(args)-2] {
		key, ok := k.(string)
		if !ok {
			return nil, fmt.Errorf("dig: wrong type of key: expected a text, got %T", k)
		}
		dict, err := toDict(value)
		if err != nil {
			return nil, fmt.Errorf("dig: %w", err)
		}
		value, ok = dict[key]
		if !ok {
			return otherwise, nil
		}
	}
	return value, nil
}
