package conventions_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPictures checks that the pictures in examples/pictures were made from the present pages: scripts/pictures.sh
// makes each picture from its page, and writes the hashes of both. A guide shows each picture, with a text for people
// who can't see it.
func TestPictures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("examples/pictures/*.*")
	if err != nil || len(files) < 3 {
		t.Fatalf("the pictures are %v: %v", files, err)
	}
	guides, err := filepath.Glob("templates/guides/*")
	if err != nil {
		t.Fatal(err)
	}
	var texts strings.Builder
	for _, guide := range guides {
		texts.Write(readFile(t, guide))
	}
	var sums strings.Builder
	for _, file := range files {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(readFile(t, file)), filepath.Base(file))
		if filepath.Ext(file) != ".png" {
			continue
		}
		before, _, shown := strings.Cut(texts.String(), "/"+filepath.ToSlash(file)+")")
		if alt := before[strings.LastIndex(before, "![")+1:]; !shown || len(strings.Fields(alt)) < 10 {
			t.Errorf("no guide shows %s with a text of ten words", file)
		}
	}
	if sums.String() != string(readFile(t, "examples/pictures/SHA256SUMS")) {
		t.Errorf("the pictures are older than their pages: run scripts/pictures.sh")
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
