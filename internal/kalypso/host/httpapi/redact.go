package httpapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
)

// redacted returns the body of an error answer with secrets redacted: the host or a proxy may repeat a credential.
func (a *API) redacted(data []byte) *bufferedBody {
	var answer any
	if json.Unmarshal(data, &answer) == nil { // JSON may escape characters of a secret
		if clean, err := json.Marshal(a.redactTexts(answer)); err == nil {
			return newBody(clean)
		}
	}
	return newBody([]byte(a.Secrets.Redact(string(data))))
}

// redactHeaders redacts the headers of an error answer. They are kept, since GitHub names the missing permission in a
// header.
func (a *API) redactHeaders(h http.Header) {
	for _, values := range h {
		for i := range values {
			values[i] = a.Secrets.Redact(values[i])
		}
	}
}

// redactTexts redacts the strings in a JSON value.
func (a *API) redactTexts(value any) any {
	switch value := value.(type) {
	case string:
		return a.Secrets.Redact(value)
	case []any:
		for i := range value {
			value[i] = a.redactTexts(value[i])
		}
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(value)) {
			text := a.redactTexts(value[name])
			delete(value, name) // GitLab uses the names of fields as keys
			value[a.Secrets.Redact(name)] = text
		}
	}
	return value
}
