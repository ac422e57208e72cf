package gitremote_test

import (
	"errors"
	"strings"
	"testing"
)

// is wants an error of a kind, with none of the secrets that the servers of
// the tests are opened with.
func is(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got error %v, want %v", err, kind)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), "canary") {
			t.Errorf("the error holds a secret: %v", e)
		}
	}
}
