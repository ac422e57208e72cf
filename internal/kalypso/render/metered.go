package render

import (
	"reflect"
)

// metered wraps f, a template function, to charge the budget for its arguments and result. Arguments count as if
// written out, unless the cost of f says that it reads only their first level.
func (b *budget) metered(name string, f any) any {
	p := functionCosts[name]
	if fast := b.fastMetered(&p, f); fast != nil {
		return fast
	}
	fn := reflect.ValueOf(f)
	typ := fn.Type()
	in := make([]reflect.Type, typ.NumIn())
	for i := range in {
		in[i] = typ.In(i)
	}
	out := typ.Out(0)
	call := fn.Call
	if typ.IsVariadic() {
		call = fn.CallSlice
	}
	fail := func(err error) []reflect.Value {
		return []reflect.Value{reflect.Zero(out), reflect.ValueOf(&err).Elem()}
	}
	return reflect.MakeFunc(
		reflect.FuncOf(in, []reflect.Type{out, errorType}, typ.IsVariadic()),
		func(args []reflect.Value) []reflect.Value {
			flat := flatten(args, typ.IsVariadic())
			if err := b.chargeArguments(&p, flat); err != nil {
				return fail(err)
			}
			results := call(args)
			if len(results) == 1 {
				results = append(results, noError)
			}
			if err := b.chargeResult(name, &p, flat, results[0]); err != nil {
				return fail(err)
			}
			return results
		},
	).Interface()
}

var (
	errorType = reflect.TypeFor[error]()
	noError   = reflect.Zero(errorType)
)

// fastMetered is [budget.metered] for the most frequent signatures, without reflection. It returns nil if it does not
// support f.
func (b *budget) fastMetered(p *functionCost, f any) any {
	switch f := f.(type) {
	case func(any) (string, error): // stringify
		return func(v any) (string, error) {
			if err := b.chargeArguments(p, []reflect.Value{reflect.ValueOf(v)}); err != nil {
				return "", err
			}
			text, err := f(v)
			if err != nil {
				return "", err
			}
			return b.chargeText(text)
		}
	case func(int, string) string: // indent
		return func(n int, s string) (string, error) {
			if err := b.chargeArguments(p, []reflect.Value{reflect.ValueOf(n), reflect.ValueOf(s)}); err != nil {
				return "", err
			}
			return b.chargeText(f(n, s))
		}
	}
	if p.work != nil || p.resultSize != nil {
		return nil
	}
	switch f := f.(type) {
	case func(string) string:
		return func(s string) (string, error) {
			if err := b.charge(b.costOf(p, len(s))); err != nil {
				return "", err
			}
			return b.chargeText(f(s))
		}
	case func(string, string) string:
		return func(s, t string) (string, error) {
			if err := b.charge(b.costOf(p, len(s)+len(t))); err != nil {
				return "", err
			}
			return b.chargeText(f(s, t))
		}
	case func(string, string) bool:
		return func(s, t string) (bool, error) {
			return f(s, t), b.charge(b.costOf(p, len(s)+len(t)))
		}
	case func(any, ...any) any: // default
		if p.returnsArgument {
			return func(v any, more ...any) (any, error) { return f(v, more...), b.charge(cost{steps: 1}) }
		}
	case func(...any) string: // quote
		return func(values ...any) (string, error) {
			if err := b.chargeValues(p, values); err != nil {
				return "", err
			}
			return b.chargeText(f(values...))
		}
	case func(...any) int64: // add
		return func(values ...any) (int64, error) {
			if err := b.chargeValues(p, values); err != nil {
				return 0, err
			}
			return f(values...), nil
		}
	}
	return nil
}

// chargeValues charges for the arguments of a function that takes any values.
func (b *budget) chargeValues(p *functionCost, values []any) error {
	read := 0
	for _, v := range values {
		if s, ok := v.(string); ok {
			read += len(s)
		} else if r := reflect.ValueOf(v); composite(r) {
			w, err := b.measure(r, p.indent)
			if err != nil {
				return err
			}
			read += int(w.bytes)
		}
	}
	return b.charge(b.costOf(p, read))
}

func (b *budget) costOf(p *functionCost, read int) cost {
	return cost{1, int64(read) * max(p.weight, 1)}
}

// chargeText charges for a text that a function returns.
func (b *budget) chargeText(s string) (string, error) {
	if err := b.fits("it returns", int64(len(s))); err != nil {
		return "", err
	}
	return s, b.charge(cost{work: int64(len(s))})
}

// flatten returns the arguments one by one, with variadic arguments and interfaces resolved.
func flatten(args []reflect.Value, variadic bool) []reflect.Value {
	flat := make([]reflect.Value, 0, len(args)+4)
	for i, arg := range args {
		if variadic && i == len(args)-1 {
			for n := range arg.Len() {
				flat = append(flat, elem(arg.Index(n)))
			}
		} else {
			flat = append(flat, elem(arg))
		}
	}
	return flat
}

func elem(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}

// chargeArguments charges for the arguments of a function. It rejects a call whose result would be too large.
func (b *budget) chargeArguments(p *functionCost, args []reflect.Value) error {
	var read int64
	for _, arg := range args {
		switch {
		case arg.Kind() == reflect.String:
			read += int64(arg.Len())
		case p.shallow:
			read += shallowSize(arg)
		case composite(arg):
			w, err := b.measure(arg, p.indent)
			if err != nil {
				return err
			}
			read += w.bytes + int64(w.parts)
		}
	}
	work := read * max(p.weight, 1)
	if p.work != nil {
		extra, err := p.work(args, read)
		if err != nil {
			return err
		}
		work += extra
	}
	if err := b.charge(cost{1, work}); err != nil || p.resultSize == nil {
		return err
	}
	return b.fits("it would return", p.resultSize(args, read, b.size))
}

// chargeResult charges for the result of a function, except for parts of its arguments.
func (b *budget) chargeResult(name string, p *functionCost, args []reflect.Value, result reflect.Value) error {
	result = elem(result)
	if mutating[name] {
		for _, arg := range args[1:] {
			if !composite(arg) {
				continue
			}
			w, err := b.measure(result, 0)
			if err != nil {
				return err
			}
			return b.charge(cost{work: int64(w.parts)})
		}
		return nil
	}
	if p.returnsArgument {
		return nil
	}
	if result.Kind() == reflect.String {
		_, err := b.chargeText(result.String())
		return err
	}
	return b.charge(cost{work: shallowSize(result)})
}

func composite(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array, reflect.Struct, reflect.Pointer, reflect.Interface:
		return true
	}
	return false
}

// shallowSize estimates the bytes of the first level of a list or map.
func shallowSize(v reflect.Value) int64 {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		return 16 * int64(v.Len())
	case reflect.Map:
		return 64 * int64(v.Len())
	}
	return 0
}
