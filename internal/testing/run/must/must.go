// Package must ends a test whose servers, programs or files can't be set up.
package must

import "testing"

// Succeed ends the test if there is an error.
func Succeed(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
