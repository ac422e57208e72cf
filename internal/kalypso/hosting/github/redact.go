package github

import "encoding/json"

// redacted is an answer with errors, in which GitHub, or what stands before it,
// may repeat what it was shown.
func (t *transport) redacted(data []byte) *body {
	var answer any
	if json.Unmarshal(data, &answer) == nil { // a text in it may be escaped
		if clean, err := json.Marshal(t.redactTexts(answer)); err == nil {
			return newBody(clean)
		}
	}
	return newBody([]byte(t.secrets.Redact(string(data))))
}

// redactTexts redacts the texts of a JSON value.
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

// redactedError is an error of the network with its text redacted.
type redactedError struct {
	text  string
	cause error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.cause }
