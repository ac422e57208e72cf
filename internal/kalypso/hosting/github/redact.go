package github

import "encoding/json"

// redacted returns the body of an error answer with secrets redacted: GitHub or a proxy may repeat a credential.
func (t *transport) redacted(data []byte) *bufferedBody {
	var answer any
	if json.Unmarshal(data, &answer) == nil { // strings may be escaped
		if clean, err := json.Marshal(t.redactTexts(answer)); err == nil {
			return newBody(clean)
		}
	}
	return newBody([]byte(t.secrets.Redact(string(data))))
}

// redactTexts redacts the strings in a JSON value.
func (t *transport) redactTexts(value any) any {
	switch value := value.(type) {
	case string:
		return t.secrets.Redact(value)
	case []any:
		for i := range value {
			value[i] = t.redactTexts(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = t.redactTexts(value[name])
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
