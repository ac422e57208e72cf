package provider

import (
	"bytes"
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// terraformJSON writes a string that is a JSON object or array as Terraform's jsonencode writes it: for such an argument
// Terraform generates a call of jsonencode, and what import stores must be what that call gives. Of a key that is given
// twice the last value counts, as JSON's readers have it. Any other string is returned as it stands.
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

// withoutDuplicates leaves the last of the values of each key: Terraform can't read two of different types.
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
