package httpapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

// FuzzRetryAfter: the wait that a host asks for is never negative.
func FuzzRetryAfter(f *testing.F) {
	for _, text := range []string{"0", "120", "-1", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", " 1", "1.5"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		wait, asked := httpapi.RetryAfter(http.Header{"Retry-After": {text}}, time.Unix(1_700_000_000, 0))
		if wait < 0 || !asked && wait != 0 {
			t.Errorf("%q: %s, asked %t", text, wait, asked)
		}
	})
}
