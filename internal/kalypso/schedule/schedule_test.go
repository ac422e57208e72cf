package schedule_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
)

// TestNamespace compares our rule for namespaces with Kubernetes' rule.
func TestNamespace(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const letters, others = "abcmz0129--", ".A_ \n\x00\xc3~/:`{@["
	name := func() string {
		var b strings.Builder
		for range r.IntN(26) {
			if r.IntN(80) == 0 {
				b.WriteByte(others[r.IntN(len(others))])
			} else {
				b.WriteByte(letters[r.IntN(len(letters))])
			}
		}
		return b.String()
	}
	valid := 0
	for range 20_000 {
		parts := []string{name(), name(), name()}
		namespace, err := schedule.Namespace(parts[0], parts[1], parts[2])
		msgs := validation.IsDNS1123Label(strings.Join(parts, "-"))
		if (err == nil) != (len(msgs) == 0) || err == nil && namespace != strings.Join(parts, "-") {
			t.Fatalf("%q: %v, and Kubernetes says %v", parts, err, msgs)
		}
		if err == nil {
			valid++
		}
	}
	if valid < 4000 || valid > 16_000 {
		t.Errorf("%d of 20000 namespaces are valid: the random names do not cover both cases", valid)
	}
}
