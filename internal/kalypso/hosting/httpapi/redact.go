package httpapi

import "encoding/json"

// redacted returns the body of an error answer with secrets redacted: the host or a proxy may repeat a credential.
func (a *API) redacted(data []byte) *bufferedBody {
	var answer any
	if json.Unmarshal(data, &answer) == nil { // strings may be escaped
		if clean, err := json.Marshal(a.redactTexts(answer)); err == nil {
			return newBody(clean)
		}
	}
	return newBody([]byte(a.Secrets.Redact(string(data))))
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
		for name := range value {
			value[name] = a.redactTexts(value[name])
		}
	}
	return value
}

// redactedError is a network error with redacted text.
type redactedError struct {
	text  string
	cause error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.cause }
