// Package seeds chooses the seeds of random tests: a few in a usual run, many in a long run, and a single seed to
// repeat a failure.
package seeds

import (
	"flag"
	"fmt"
	"iter"
	"os"
	"strconv"
	"testing"
)

// Variable is the environment variable that makes a run long. Its value is the first of the seeds that only this long
// run uses.
const Variable = "KALYPSO_LONG"

var only = flag.String("seed", "", "run the random tests only with this seed")

// Of returns the seeds of a random test. A usual run has as many seeds as the argument usual, from 0. A long run has as
// many as the argument long, from 0, and as many again from the value of [Variable]. The first failure logs the command
// that repeats it.
func Of(t *testing.T, usual, long int) iter.Seq[uint64] {
	t.Helper()
	var all []uint64
	add := func(first uint64, n int) {
		for i := range uint64(n) {
			all = append(all, first+i)
		}
	}
	if first, set := os.LookupEnv(Variable); Single() {
		add(parse(t, *only), 1)
	} else if set {
		add(0, long)
		add(parse(t, first), long)
	} else {
		add(0, usual)
	}
	return func(yield func(uint64) bool) {
		for _, seed := range all {
			if !try(t, seed, yield) {
				return
			}
		}
	}
}

// Long reports whether this is a long run.
func Long() bool {
	_, set := os.LookupEnv(Variable)
	return set
}

// Single reports whether a test runs with a single seed. Then it must not check counts over all seeds.
func Single() bool { return *only != "" }

// try runs the body of the loop with a seed. If the test fails, it logs the command that repeats it.
func try(t *testing.T, seed uint64, body func(uint64) bool) bool {
	t.Helper()
	failed := t.Failed()
	defer func() {
		if !failed && t.Failed() {
			t.Log(repeat(t, seed))
		}
	}()
	return body(seed)
}

// repeat returns the command that runs the test with one seed.
func repeat(t *testing.T, seed uint64) string {
	folder, err := os.Getwd()
	if err != nil {
		folder = "."
	}
	return fmt.Sprintf("Repeat it: go test %s -run '^%s$' -seed %d", folder, t.Name(), seed)
}

func parse(t *testing.T, text string) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("the seed %q is not a number from 0", text)
	}
	return seed
}
