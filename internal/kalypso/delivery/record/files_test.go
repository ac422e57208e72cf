package record_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	at := record.Destination{Repo: gitserver.InitBare(t), Branch: "dev", Path: "fleet"}
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

// TestImportID: an import ID that is made for a destination is parsed to the same destination.
func TestImportID(t *testing.T) {
	for _, at := range []record.Destination{
		{Repo: "https://acme.io/gitops", Branch: "dev", Path: "."},
		{Repo: "git@acme.io:acme/gitops.git", Branch: "a+b/c", Path: "fleet/dev"},
		{Repo: "file:///srv/gitops", Branch: "dev", Path: "a"},
		{Repo: "https://acme.io/gitops", Branch: "a&b", Path: "."},
		{Repo: "https://acme.io/gitops", Branch: "100%", Path: "."},
		{Repo: "https://acme.io/gitops", Branch: "a%41;b&ref=c#d e"[:12], Path: "x?ref=y"},
		{Repo: "https://acme.io/gitops", Branch: "%2F+=@{}#"[:5], Path: "a%20b"},
	} {
		environment, got, err := record.ParseImportID(at.ImportID("dev"))
		if err != nil || environment != "dev" || got != at {
			t.Errorf("%s: %s of %q, %v", at, got, environment, err)
		}
	}
	for id, said := range map[string]string{
		"https://acme.io/gitops?ref=dev": "does not have the form", "dev@?ref=dev": "no repo",
		"dev@https://acme.io/gitops": "no branch", "dev@https://acme.io/gitops?ref=": "no branch",
		"dev@https://acme.io/gitops?ref=a&b":     "if the branch is a&b, write ref=a%26b",
		"dev@https://acme.io/gitops?ref=100%":    "if the branch is 100%, write ref=100%25",
		"dev@https://acme.io/gitops?ref=a;b":     "if the branch is a;b, write ref=a%3Bb",
		"dev@https://acme.io/gitops?ref=a&ref=b": "write ref=a%26ref=b",
		"dev@https://acme.io/gitops?branch=a":    "no branch", "dev@https://acme.io/gitops//../x?ref=dev": "leaves the repo",
	} {
		if _, _, err := record.ParseImportID(id); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: the error is %v, want %q", id, err, said)
		}
	}
}
