package objects_test

import (
	"regexp"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/objects"
)

// lineBreak matches the line breaks of YAML.
var lineBreak = regexp.MustCompile("\r\n|[\n\r\u0085\u2028\u2029]")

// FuzzCheck checks any text: the validator and the scanner end, a fault is on a line of the text, and a valid text is
// YAML to its end, so that another object after it is a fault or another document.
func FuzzCheck(f *testing.F) {
	for _, tt := range invalid {
		f.Add(tt.text)
	}
	for _, tt := range refused {
		f.Add(tt.text)
	}
	for _, text := range valid {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v objects.Validator
		objects.Scan(nil, []byte(text))
		found := v.Check("a.yaml", []byte(text))
		if found == nil {
			appended := text + "\n---\n{apiVersion: v1, kind: A, metadata: {name: a}}\n{b: c}\n"
			if v.Check("a.yaml", []byte(appended)) == nil {
				t.Errorf("an object is lost after %q", text)
			}
			return
		}
		if found.Line < 1 || found.Line > len(lineBreak.FindAllString(text, -1))+1 || found.Message == "" {
			t.Errorf("%+v of %q", found, text)
		}
		found.Explain([]byte(text))
	})
}
