package record_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestRead reads records as they are written. A branch without a record is no error. An unusable record is an error
// with the reason.
func TestRead(t *testing.T) {
	client, err := gitremote.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	at := destination.Destination{Repo: gitserver.InitBare(t), Branch: "dev", Path: "fleet"}
	written := record.New("dev", []string{"large"}, "v1", nil, nil)
	seed := func(branch string, files map[string][]byte) {
		texts := map[string]string{"a": "b"}
		for path, text := range files {
			texts[path] = string(text)
		}
		gitserver.Seed(t, at.Repo, branch, texts)
	}
	seed("dev", written.Files(at, "v1"))
	seed("wave", written.Files(at, ""))
	seed("operator", map[string][]byte{record.PromotedCommitFile: []byte("v2\n")})
	seed("newer", map[string][]byte{at.RecordPath(): []byte(`{"version":2,"environment":"dev"}`)})
	for branch, want := range map[string]struct {
		record *record.Record
		commit string
		err    string
	}{
		"dev":      {record: &written, commit: "v1"},
		"wave":     {record: &written},
		"operator": {commit: "v2"},
		"absent":   {},
		"newer": {err: "a newer version of the provider wrote it: it has version 2, and this provider supports " +
			"version 1; upgrade the provider"},
	} {
		opened, err := gitbranch.Open(client, at.Repo, branch)
		if err != nil {
			t.Fatal(err)
		}
		snapshot, err := opened.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer snapshot.Close()
		got, err := record.Read(snapshot, at)
		both, commit, bothErr := record.ReadPromoted(snapshot, at)
		var unusable *record.Error
		switch {
		case want.err != "":
			if !errors.As(err, &unusable) || unusable.Err.Error() != want.err || !errors.As(bothErr, &unusable) {
				t.Errorf("%s: the errors are %v and %v", branch, err, bothErr)
			}
		case err != nil || bothErr != nil || commit != want.commit:
			t.Errorf("%s: commit %q, %v, %v", branch, commit, err, bothErr)
		}
		for _, r := range []*record.Record{got, both} {
			if diff := cmp.Diff(want.record, r); diff != "" {
				t.Errorf("%s (-want +got):\n%s", branch, diff)
			}
		}
	}
}
