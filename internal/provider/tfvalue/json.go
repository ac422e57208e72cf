package tfvalue

import (
	"bytes"
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// terraformJSON writes a string that is a JSON object or array as Terraform's jsonencode does. Terraform generates a
// call of jsonencode for such an argument, and an import must store the text that this call returns. If a key is
// repeated, the last value counts, as in JSON parsers. It returns any other string unchanged.
func terraformJSON(s string) string {
	if !json.Valid([]byte(s)) {
		return s
	}
	v, err := stdlib.JSONDecode(cty.StringVal(withoutDuplicates(s)))
	if err != nil || v.IsNull() || v.Type().IsPrimitiveType() {
		return s
	}
	encoded, err := stdlib.JSONEncode(v)
	if err != nil {
		return s
	}
	return encoded.AsString()
}

// withoutDuplicates keeps the last value of each key. Terraform can't read two values of different types.
func withoutDuplicates(s string) string {
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return s
	}
	return string(text)
}
