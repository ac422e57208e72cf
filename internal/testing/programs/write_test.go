package programs_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// TestWrite runs programs at once after they are written, while other goroutines start processes.
func TestWrite(t *testing.T) {
	folder := t.TempDir()
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			for i := range 20 {
				path := filepath.Join(folder, fmt.Sprintf("%d-%d", n, i))
				if err := programs.Write(path, "#!/bin/sh\nexit 0\n"); err != nil {
					t.Error(err)
				} else if err := exec.Command(path).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
