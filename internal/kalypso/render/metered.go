package render

import (
	"reflect"
)

// metered is f, a function of templates, that charges the budget with what it reads and what it gives. Its arguments are
// counted as if they were written out, unless its price says that it looks at no more than their first level.
func (b *budget) metered(name string, f any) any {
	p := prices[name]
	if fast := b.fast(&p, f); fast != nil {
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
	return reflect.MakeFunc(reflect.FuncOf(in, []reflect.Type{out, errorType}, typ.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		flat := flatten(args, typ.IsVariadic())
		if err := b.before(&p, flat); err != nil {
			return fail(err)
		}
		results := call(args)
		if len(results) == 1 {
			results = append(results, noError)
		}
		if err := b.after(name, &p, flat, results[0]); err != nil {
			return fail(err)
		}
		return results
	}).Interface()
}

var (
	errorType = reflect.TypeFor[error]()
	noError   = reflect.Zero(errorType)
)

// fast is f for the signatures of the functions that templates call most, where their price needs no look at all arguments
// together. It does what metered does, in a fraction of its time.
func (b *budget) fast(p *price, f any) any {
	if p.work != nil || p.gives != nil {
		return nil
	}
	switch f := f.(type) {
	case func(string) string:
		return func(s string) (string, error) {
			if err := b.charge(b.costOf(p, len(s))); err != nil {
				return "", err
			}
			return b.text(f(s))
		}
	case func(string, string) string:
		return func(s, t string) (string, error) {
			if err := b.charge(b.costOf(p, len(s)+len(t))); err != nil {
				return "", err
			}
			return b.text(f(s, t))
		}
	case func(string, string) bool:
		return func(s, t string) (bool, error) {
			return f(s, t), b.charge(b.costOf(p, len(s)+len(t)))
		}
	case func(int, string) string:
		return func(n int, s string) (string, error) {
			if err := b.charge(b.costOf(p, len(s))); err != nil {
				return "", err
			}
			return b.text(f(n, s))
		}
	case func(any, ...any) any: // default
		if p.part {
			return func(v any, more ...any) (any, error) { return f(v, more...), b.charge(cost{steps: 1}) }
		}
	case func(...any) string: // quote
		return func(values ...any) (string, error) {
			read := 0
			for _, v := range values {
				s, ok := v.(string)
				if r := reflect.ValueOf(v); !ok && composite(r) {
					w, err := b.measure(r, p.indent)
					if err != nil {
						return "", err
					}
					read += int(w.bytes)
				}
				read += len(s)
			}
			if err := b.charge(b.costOf(p, read)); err != nil {
				return "", err
			}
			return b.text(f(values...))
		}
	}
	return nil
}

func (b *budget) costOf(p *price, read int) cost { return cost{1, int64(read) * max(p.weight, 1)} }

// text charges for a text that a function gives.
func (b *budget) text(s string) (string, error) {
	if err := b.fits("it gives", int64(len(s))); err != nil {
		return "", err
	}
	return s, b.charge(cost{work: int64(len(s))})
}

// flatten is the arguments one by one, as what is in them.
func flatten(args []reflect.Value, variadic bool) []reflect.Value {
	flat := make([]reflect.Value, 0, len(args)+4)
	for i, arg := range args {
		if variadic && i == len(args)-1 {
			for n := range arg.Len() {
				flat = append(flat, inside(arg.Index(n)))
			}
		} else {
			flat = append(flat, inside(arg))
		}
	}
	return flat
}

func inside(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}

// before charges for what a function reads, and refuses a result that would be too large before it is made.
func (b *budget) before(p *price, args []reflect.Value) error {
	var read int64
	for _, arg := range args {
		switch {
		case arg.Kind() == reflect.String:
			read += int64(arg.Len())
		case p.shallow:
			read += breadth(arg)
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
	if err := b.charge(cost{1, work}); err != nil || p.gives == nil {
		return err
	}
	return b.fits("it would give", p.gives(args, read, b.size))
}

// after charges for what a function gave. What it gave of its argument's is not new.
func (b *budget) after(name string, p *price, args []reflect.Value, result reflect.Value) error {
	result = inside(result)
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
	if p.part {
		return nil
	}
	if result.Kind() == reflect.String {
		_, err := b.text(result.String())
		return err
	}
	return b.charge(cost{work: breadth(result)})
}

func composite(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array, reflect.Struct, reflect.Pointer, reflect.Interface:
		return true
	}
	return false
}

// breadth is about how many bytes the first level of a list or a map takes.
func breadth(v reflect.Value) int64 {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		return 16 * int64(v.Len())
	case reflect.Map:
		return 64 * int64(v.Len())
	}
	return 0
}
