package limit_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text                 string
		n, total, of, number int
		allows               bool
	}{
		{text: "0", n: 1, total: 5, of: 5, number: 0},
		{text: "2", n: 2, total: 2, of: 5, number: 2, allows: true},
		{text: "50%", n: 2, total: 5, of: 5, number: 3, allows: true},
		{text: "50%", n: 3, total: 5, of: 4, number: 2},
		{text: "1%", n: 0, total: 1, of: 1, number: 1, allows: true},
		{text: "100%", n: 7, total: 7, of: 7, number: 7, allows: true},
	} {
		l, err := limit.Parse(test.text)
		if err != nil || l.String() != test.text {
			t.Fatalf("%s: %v, %v", test.text, l, err)
		}
		if got := l.Allows(test.n, test.total); got != test.allows {
			t.Errorf("%s allows %d of %d: %t", test.text, test.n, test.total, got)
		}
		if got := l.RoundUp(test.of); got != test.number {
			t.Errorf("%s of %d is %d, want %d", test.text, test.of, got, test.number)
		}
	}
	for _, text := range []string{"", "-1", "-1%", "101%", "half", "1.5", "%", "50%%", "5000000000"} {
		if l, err := limit.Parse(text); err == nil || !strings.Contains(err.Error(), "percentage") {
			t.Errorf("%q is parsed as %v (%v)", text, l, err)
		}
	}
}
