package fleet

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

// TestSimpleLabel checks that a text is a simple label exactly if Kubernetes accepts it both as the key and as the
// value of a label. It tries all texts of up to two bytes, and some longer ones.
func TestSimpleLabel(t *testing.T) {
	texts := []string{strings.Repeat("a", 63), strings.Repeat("a", 64), "region", "a-b_c.D9", "x\n", "a\nb", "ü", "a/b"}
	for n, last := 0, []string{""}; n < 3; n++ {
		var longer []string
		for _, s := range last {
			for c := range 256 {
				if n < 2 || strings.IndexByte("aZ0-_./ \n", byte(c)) >= 0 {
					longer = append(longer, s+string([]byte{byte(c)}))
				}
			}
		}
		texts, last = append(texts, longer...), longer
	}
	valid := 0
	for _, s := range texts {
		accepted := len(validation.IsQualifiedName(s)) == 0 && len(validation.IsValidLabelValue(s)) == 0
		if isSimpleLabel(s) && !accepted {
			t.Errorf("%q is taken for a simple label", s)
		}
		if accepted && !isSimpleLabel(s) {
			t.Errorf("%q is not taken for a simple label", s)
		}
		if accepted {
			valid++
		}
	}
	if valid == 0 {
		t.Error("no text is valid")
	}
}
