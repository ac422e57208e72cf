package document_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
)

// FuzzSetCommit: a BaseRepo whose commit was set differs in nothing but the commit. Setting it again changes nothing.
func FuzzSetCommit(f *testing.F) {
	const commit = "0123456789012345678901234567890123456789"
	text, err := document.New(document.BaseRepo{Name: "dev", Repo: "https://acme.io/cp", Branch: "main", Path: "."})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("kind: BaseRepo\napiVersion: scheduler.kalypso.io/v1alpha1\nmetadata: {name: dev}\n" +
		"spec: {repo: r, branch: b, path: p, commit: 'old'} # why\n"))
	f.Add([]byte("---\na: 1\n---\n" + string(text)))
	f.Fuzz(func(t *testing.T, text []byte) {
		before, err := document.Parse(text)
		if err != nil {
			return
		}
		changed, err := document.SetCommit(text, commit)
		if err != nil {
			return
		}
		after, err := document.Parse(changed)
		before.Commit = commit
		if err != nil || after != before {
			t.Errorf("%q became %q: %+v, want %+v, %v", text, changed, after, before, err)
		}
		if again, err := document.SetCommit(changed, commit); err != nil || string(again) != string(changed) {
			t.Errorf("%q became %q: %v", changed, again, err)
		}
	})
}
