package httpapi_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// FuzzNull: an answer that passes is one JSON value, as a list without null, or begins with no JSON object, list or
// null. The libraries report the latter.
func FuzzNull(f *testing.F) {
	for _, body := range []string{
		"null", " null ", "null00", "null{}", "[]", "[null]", "[1,null]", "{}", "{} {}", "[] null",
		`{"value":[null]}`, `{"value":null}`,
		"\ufeff[null]", "[", "{", "<html>", "", `"null"`, `{"value":[{}]}`, `{"Value":[null],"value":[]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		err := httpapi.Null(nil, body)
		body = bytes.TrimPrefix(body, []byte("\ufeff"))
		var v any
		if !json.Valid(body) {
			if d := json.NewDecoder(bytes.NewReader(body)); err == nil && d.Decode(&v) == nil && !isPlain(v) {
				t.Errorf("%q passes, with text after its JSON", body)
			}
			return
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber() // of any size
		_ = d.Decode(&v)
		list, isList := v.([]any)
		if wrapped, is := v.(map[string]any); is {
			list, isList = wrapped["value"].([]any)
		}
		hasNull := v == nil || isList && slices.Contains(list, nil)
		if hasNull && err == nil {
			t.Errorf("%q passes", body)
		}
	})
}

// isPlain reports whether a value is neither an object nor a list nor null.
func isPlain(v any) bool {
	switch v.(type) {
	case map[string]any, []any, nil:
		return false
	}
	return true
}
