package gitremote_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const main = plumbing.ReferenceName("refs/heads/main")

type hash = plumbing.Hash

func TestMain(m *testing.M) {
	// The git processes for file:// URLs run in this environment.
	for _, v := range []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"} {
		name, value, _ := cut(v)
		_ = os.Setenv(name, value)
	}
	os.Exit(m.Run())
}

func cut(v string) (string, string, bool) {
	for i := range v {
		if v[i] == '=' {
			return v[:i], v[i+1:], true
		}
	}
	return v, "", false
}

func open(t *testing.T, url string, credentials []gitremote.Credential, options ...gitremote.Option) remote {
	t.Helper()
	client, err := gitremote.NewClient(credentials, options...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := client.Remote(url)
	if err != nil {
		t.Fatal(err)
	}
	return remote{r}
}

// TestRead reads an empty repo, and then a commit of the same repo, over each server.
func TestRead(t *testing.T) {
	for _, backend := range gitserver.Backends() {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.InitBare(t)
			url, credentials := backend.Start(t, repo)
			r := open(t, url, credentials)
			at, err := r.Ref(t.Context(), main)
			if err != nil || !at.IsZero() {
				t.Fatalf("empty repository: got %s, %v", at, err)
			}
			gitserver.Seed(t, repo, "main", map[string]string{"old": "1"})
			head := gitserver.Seed(t, repo, "main", map[string]string{"a/b": "content\n"})
			at, err = r.Ref(t.Context(), main)
			if err != nil || at.String() != head {
				t.Fatalf("got %s, %v; want %s", at, err, head)
			}
			gone, err := r.Ref(t.Context(), "refs/heads/mai")
			if err != nil || !gone.IsZero() {
				t.Fatalf("another branch: got %s, %v", gone, err)
			}
			got := gitremote.Objects{}
			if err := r.Fetch(t.Context(), gitremote.FetchRequest{Wants: []plumbing.Hash{at}, Depth: 1}, got); err != nil {
				t.Fatal(err)
			}
			kinds := map[string]int{}
			for _, o := range got {
				kinds[o.Kind.String()]++
			}
			if diff := cmp.Diff(map[string]int{"commit": 1, "tree": 2, "blob": 2}, kinds); diff != "" {
				t.Errorf("objects of the last commit alone (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadMissing(t *testing.T) {
	for _, backend := range gitserver.Backends() {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			url, credentials := backend.Start(t, filepath.Join(t.TempDir(), "none.git"))
			_, err := open(t, url, credentials).Ref(t.Context(), main)
			t.Log(err)
			is(t, err, gitremote.ErrRepoNotFound)
		})
	}
}
