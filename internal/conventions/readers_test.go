package conventions_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readers are the files that may use a decoder of encoding/json, and how they read to the end of their input. Other
// files use json.Unmarshal, which refuses text after the value.
var readers = map[string]string{
	"internal/kalypso/fleet/fleetyaml/split_documents.go": "it splits a stream, and reports what follows the last object",
	"internal/kalypso/githost/httpapi/retry.go":           "it looks for text after the value",
	"internal/provider/hclexport/hclexport.go":            "its result is compared with the text",
	"internal/provider/tfvalue/json.go":                   "json.Valid checks the whole text",
}

// TestReadersReadToTheEnd: Decode of encoding/json ignores what follows the value.
func TestReadersReadToTheEnd(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	err := filepath.WalkDir("internal", func(path string, entry fs.DirEntry, err error) error {
		name := filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name == "internal/testing":
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path) //nolint:gosec // a file of the repo
		if err == nil && strings.Contains(string(text), "json.NewDecoder(") {
			found[name] = true
			if readers[name] == "" {
				t.Errorf("%s: use json.Unmarshal, or check what follows the value and add the file to the list", name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range readers {
		if !found[name] {
			t.Errorf("%s uses no decoder; remove it from the list", name)
		}
	}
}
