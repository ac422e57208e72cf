// Package slow skips slow tests if the tests run with -short, as in make test. make test-all and CI run all tests.
package slow

import "testing"

// Skip skips a slow test if the tests run with -short.
func Skip(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it does not run with -short, but in make test-all")
	}
}
