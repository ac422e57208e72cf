package provider

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// terraformJSON writes a string that is a JSON object or array as Terraform's jsonencode writes it: for such an argument
// Terraform generates a call of jsonencode, and what import stores must be what that call gives. Any other string is
// returned as it stands.
func terraformJSON(s string) string {
	if !json.Valid([]byte(s)) {
		return s
	}
	v, err := stdlib.JSONDecode(cty.StringVal(s))
	if err != nil || v.IsNull() || v.Type().IsPrimitiveType() {
		return s
	}
	encoded, err := stdlib.JSONEncode(v)
	if err != nil {
		return s
	}
	return encoded.AsString()
}
