package yamlend_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/yamlend"
)

func TestLineAfterFirst(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a: b\n": 0, "# x\n---\na: b\n---\n# y\n": 0, "a: b\n...\n": 0, "a: [\n": 0, "{a: b}\n# x\n": 0,
		"a: b\n---":         0,
		"a: b\n---\nc: d\n": 3, "{a: b}\n{c: d}\n": 2, "{a: b} {c: d}\n": 1, "{a: b}\n\n]\n": 3, "  a: b\nc: d\n": 2,
		"a: b\n...\nc: d\n": 3, "--- {a: b}\n--- {c: d}": 2, "---\n---\na: b\n": 3, "a: b\n--- ~\n": 2,
	} {
		if line := yamlend.LineAfterFirst(text); line != want {
			t.Errorf("%q: line %d, want %d", text, line, want)
		}
	}
}
