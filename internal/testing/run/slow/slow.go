// Package slow skips slow tests in a short run (go test -short), as make test is one. make test-all and CI run all
// tests.
package slow

import "testing"

// Skip skips a slow test in a short run.
func Skip(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it does not run with -short, but in make test-all")
	}
}
