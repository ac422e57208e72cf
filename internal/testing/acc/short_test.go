package acc

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// TestShort checks that every name in short is the name of a test.
func TestShort(t *testing.T) {
	t.Parallel()
	function := regexp.MustCompile(`(?m)^func (TestAcc\w+)`)
	var tests []string
	err := filepath.WalkDir(filepath.Join(programs.Root(), "internal/provider"),
		func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range function.FindAllStringSubmatch(string(text), -1) {
				tests = append(tests, found[1])
			}
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range short {
		if !slices.Contains(tests, name) {
			t.Errorf("there is no test %s", name)
		}
	}
}
