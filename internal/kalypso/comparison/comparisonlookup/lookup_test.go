package comparisonlookup_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison/comparisonlookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/historylookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// fleet is a repo with the environments stage and prod.
type fleet struct {
	repo, url string
	server    *gitserver.Server

	mu    sync.Mutex
	wants []string // the hashes that were fetched
}

func newFleet(t *testing.T, options ...gitserver.Option) *fleet {
	t.Helper()
	root := t.TempDir()
	f := &fleet{repo: filepath.Join(root, "gitops")}
	gitserver.InitBareAt(t, f.repo)
	server, git := gitserver.Handler(t, root, options...)
	want := regexp.MustCompile(`want ([0-9a-f]{40})`)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		f.mu.Lock()
		for _, found := range want.FindAllSubmatch(body, -1) {
			f.wants = append(f.wants, string(found[1]))
		}
		f.mu.Unlock()
		req.Body = io.NopCloser(bytes.NewReader(body))
		git.ServeHTTP(w, req)
	}))
	t.Cleanup(front.Close)
	f.server, f.url = server, front.URL+"/gitops"
	return f
}

// files returns the files of an environment below a path. The files of the target "same" are equal in all environments.
func files(environment, at string) map[string]string {
	all := map[string]string{
		"README.md": "the branch",
		at + record.File: string(
			record.New(environment, []string{"large", "small"}, "", nil, nil).Marshal()),
	}
	for _, clusterType := range []string{"large", "small"} {
		all[at+clusterType+"/README.md"] = "a readme"
		all[at+clusterType+"/same/a.yaml"] = "same"
		all[at+clusterType+"/app/same.yaml"] = "same file " + clusterType
		all[at+clusterType+"/app/namespace.yaml"] = "on: " + environment + "-" + clusterType + "-app"
		all[at+clusterType+"/app/sub/value.txt"] = environment
	}
	return all
}

func (f *fleet) request(left, right, path string) comparisonlookup.Request {
	client, _ := gitremote.NewClient(nil)
	return comparisonlookup.Request{Client: client, Sides: comparison.Pair[destination.Destination]{
		Left: destination.New(f.url, left, path), Right: destination.New(f.url, right, path),
	}}
}

// TestRead: only files whose hashes differ are fetched, on servers with and without filters.
func TestRead(t *testing.T) {
	for name, options := range map[string][]gitserver.Option{
		"filters": {gitserver.WithFilter()}, "no filters": nil, "version 0": {gitserver.WithProtocolV0()},
	} {
		for _, path := range []string{"", "clusters/"} {
			t.Run(name+path, func(t *testing.T) {
				f := newFleet(t, options...)
				for _, environment := range []string{"stage", "prod"} {
					gitserver.Seed(t, f.repo, environment, files(environment, path))
				}
				gitserver.Seed(t, f.repo, "prod", map[string]string{path + "small/extra.yaml": "foreign"})
				c, ps, err := comparisonlookup.Read(t.Context(), f.request("stage", "prod", path))
				if err != nil || len(ps) > 0 {
					t.Fatal(err, ps)
				}
				var got []string
				for _, d := range c.Files {
					got = append(got, fmt.Sprint(d.Name, " ", d.Folders))
				}
				want := []string{"sub/value.txt [large/app small/app]", "extra.yaml [small]"}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if name != "filters" {
					return
				}
				var blobs []string
				for _, hash := range f.wants {
					if strings.TrimSpace(gitserver.Git(t, f.repo, "cat-file", "-t", hash)) == "blob" {
						blobs = append(blobs, gitserver.Git(t, f.repo, "cat-file", "-p", hash))
					}
				}
				blobs = slices.DeleteFunc(blobs, func(text string) bool { return strings.Contains(text, `"environment"`) })
				slices.Sort(blobs)
				want = []string{"foreign", "on: prod-large-app", "on: prod-small-app", "on: stage-large-app",
					"on: stage-small-app", "prod", "stage"}
				if diff := cmp.Diff(want, blobs); diff != "" {
					t.Errorf("fetched files (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestErrors: the error names the side that can't be read, or the control plane.
func TestErrors(t *testing.T) {
	f := newFleet(t)
	gitserver.Seed(t, f.repo, "stage", files("stage", ""))
	gitserver.Seed(t, f.repo, "prod", files("prod", ""))
	gitserver.Seed(t, f.repo, "foreign", map[string]string{"a": "b"})
	gitserver.Seed(t, f.repo, "newer", map[string]string{record.File: `{"version": 99}`})
	for branch, want := range map[string]error{
		"nowhere": gitbranch.ErrBranchNotFound, "foreign": comparisonlookup.ErrNoRecord, "newer": record.ErrNewer,
	} {
		_, _, err := comparisonlookup.Read(t.Context(), f.request("stage", branch, ""))
		var side *comparisonlookup.SideError
		if !errors.As(err, &side) || !side.Right || !errors.Is(err, want) {
			t.Errorf("%s: %v", branch, err)
		}
		if n := strings.Count(side.Err.Error(), "can't be used"); branch == "newer" && n != 1 {
			t.Errorf("%s: %d times in %v", branch, n, side.Err)
		}
		_, _, err = comparisonlookup.Read(t.Context(), f.request(branch, "stage", ""))
		if !errors.As(err, &side) || side.Right {
			t.Errorf("%s on the left: %v", branch, err)
		}
	}
	req := f.request("stage", "prod", "")
	for _, url := range []string{f.url + "-gone", f.url} {
		req.ControlPlane.Repo, req.ControlPlane.Branch = url, "nowhere"
		var controlPlane *historylookup.ControlPlaneError
		if _, _, err := comparisonlookup.Read(t.Context(), req); !errors.As(err, &controlPlane) {
			t.Errorf("the control plane: %v", err)
		}
	}
	req = f.request("stage", "prod", "")
	req.Options.Match = map[string]string{"small": "large"}
	if c, ps, err := comparisonlookup.Read(t.Context(), req); c != nil || !ps.HasErrors() || err != nil {
		t.Errorf("%v, %v, %v", c, ps, err)
	}
}
