package tfvalue

import (
	"encoding/json"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// terraformJSON writes a string that is a JSON object or array as Terraform's jsonencode does. Terraform generates a
// call of jsonencode for such an argument, and an import must store the text that this call returns. If a key is
// repeated, the last value counts, as in JSON parsers. It returns any other string unchanged.
func terraformJSON(s string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if !json.Valid([]byte(s)) || d.Decode(&v) != nil {
		return s
	}
	unique, _ := json.Marshal(v) // Terraform can't read two values of a key that have different types
	decoded, err := stdlib.JSONDecode(cty.StringVal(string(unique)))
	if err != nil || decoded.IsNull() || decoded.Type().IsPrimitiveType() {
		return s
	}
	encoded, err := stdlib.JSONEncode(decoded)
	if err != nil {
		return s
	}
	return encoded.AsString()
}
