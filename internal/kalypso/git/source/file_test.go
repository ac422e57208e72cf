package source_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestFile reads files at a commit and at the head of a branch. Another file of the same folder needs no request. If a
// file cannot be read, the problem is about the file or its location.
func TestFile(t *testing.T) {
	t.Parallel()
	s := serve(t, gitserver.WithFilter())
	old := s.commit("control-plane", "dev", map[string]string{"configs/a.yaml": "old: a\n", "configs/b.yaml": "old: b\n"})
	s.commit("control-plane", "dev", map[string]string{"configs/a.yaml": "new: a\n", "configs/.sourceignore": "b.yaml\n",
		"configs/large.yaml": strings.Repeat("# large\n", 200)})
	r := readerWithLimits(t, source.Limits{Repos: 1, Fetch: 1 << 20, File: 1000, Total: 1 << 20})
	at := source.Location{Repo: s.url("control-plane"), Branch: "dev"}
	before := at
	before.Commit = old
	for i, want := range []struct {
		at         source.Location
		file, text string
	}{
		{before, "configs/a.yaml", "old: a\n"}, {before, "./configs/b.yaml", "old: b\n"}, {at, "configs/a.yaml", "new: a\n"},
	} {
		s.ResetLog()
		text, err := r.File(t.Context(), want.at, want.file)
		if err != nil || text != want.text {
			t.Errorf("%s at %q: %q, %v", want.file, want.at.Commit, text, err)
		}
		if _, requests := s.conversations(); i == 1 && requests > 0 {
			t.Errorf("another file of the folder takes %d requests", requests)
		}
	}
	for file, want := range map[string]string{
		"configs/b.yaml": "File not found", "configs/none.yaml": "File not found", "none/a.yaml": "Folder not found",
		"configs/large.yaml": "File too large", "../a.yaml": "Location can't be read",
	} {
		_, err := r.File(t.Context(), at, file)
		var p source.Problem
		if !errors.As(err, &p) || p.Summary != want {
			t.Errorf("%s: %v", file, err)
		}
	}
}
