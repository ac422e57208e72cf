package ballast_test

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/ballast"
	_ "github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider" // with all packages of the program
)

// TestBallast checks that the garbage collector counts the ballast as live memory, and that the ballast is initialized
// before packages that need much memory.
func TestBallast(t *testing.T) {
	t.Parallel()
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	if heap.HeapAlloc < uint64(len(ballast.Memory)) || heap.NextGC < uint64(len(ballast.Memory)) {
		t.Errorf("the heap has %d bytes, and is collected at %d", heap.HeapAlloc, heap.NextGC)
	}
	program := exec.Command(os.Args[0], "-test.run=^$") //nolint:gosec // this test
	program.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := program.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	var order []string // the packages in the order of their initialization
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "init" {
			order = append(order, words[1])
		}
	}
	const module = "github.com/terraform-kalypso/terraform-provider-kalypso/"
	n := slices.Index(order, module+"internal/ballast")
	if n < 0 || n >= slices.Index(order, "github.com/santhosh-tekuri/jsonschema/v6") {
		t.Errorf("the packages are initialized in the order %q", order)
	}
}
