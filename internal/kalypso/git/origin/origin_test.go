package origin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

func TestParse(t *testing.T) {
	t.Parallel()
	commit := strings.Repeat("a", 40)
	for text, want := range map[string]origin.Origin{
		"https://github.com/acme/base@main:a/b.yaml": {Repo: "https://github.com/acme/base", Branch: "main",
			Path: "a/b.yaml"},
		"https://github.com/acme/base@main:a/b.yaml#x": {Repo: "https://github.com/acme/base", Branch: "main",
			Path: "a/b.yaml", Name: "x"},
		"https://github.com/acme/base@release/1@2:a@b:c.yaml": {Repo: "https://github.com/acme/base", Branch: "release/1@2",
			Path: "a@b:c.yaml"},
		"https://github.com/acme/base@main~shop:a#b#Config/c": {Repo: "https://github.com/acme/base", Branch: "main",
			Via: "shop", Path: "a#b", Name: "Config/c"},
		"https://[::1]:8080/acme/base@main:a.yaml": {Repo: "https://[::1]:8080/acme/base", Branch: "main",
			Path: "a.yaml"},
		"ssh://git@git.acme.io/acme/base.git@main:a.yaml": {Repo: "ssh://git@git.acme.io/acme/base.git", Branch: "main",
			Path: "a.yaml"},
		"git@git.acme.io:acme/base@main:a.yaml": {Repo: "git@git.acme.io:acme/base", Branch: "main",
			Path: "a.yaml"},
		"file:///srv/base.git@main:a b.yaml": {Repo: "file:///srv/base.git", Branch: "main",
			Path: "a b.yaml"},
		"/srv/base.git@main:a.yaml": {Repo: "/srv/base.git", Branch: "main", Path: "a.yaml"},
		"https://github.com/acme/base@" + commit + ":a.yaml#x": {Repo: "https://github.com/acme/base", Commit: commit,
			Path: "a.yaml", Name: "x"},
		"git@git.acme.io:acme/base@" + commit + ":a.yaml": {Repo: "git@git.acme.io:acme/base", Commit: commit,
			Path: "a.yaml"},
		"any text@" + commit + ":a.yaml":          {},
		"https://github.com/acme/base@main":       {},
		"https://github.com/acme/base@main:":      {},
		"https://github.com/acme/base@:a.yaml":    {},
		"https://github.com/acme/base:a.yaml":     {},
		"https://github.com/acme/base@a b:a.yaml": {},
		"https://me@github.com":                   {},
		"fleet/a.yaml":                            {},
		"fleet@main:a.yaml":                       {},
		"":                                        {},
	} {
		got, ok := origin.Parse(text)
		if diff := cmp.Diff(want, got); diff != "" || ok != (want != origin.Origin{}) {
			t.Errorf("%q is read: %t (-want +got):\n%s", text, ok, diff)
		}
		if ok && got.String() != text {
			t.Errorf("%q is written as %q", text, got)
		}
	}
}

// TestSources: the commit of an object comes from the innermost location that contains its path. The location a does
// not contain ab/z.yaml, since whole segments of paths are compared.
func TestSources(t *testing.T) {
	t.Parallel()
	const repo = "https://github.com/acme/base"
	at := strings.Repeat("f", 40)
	sources := origin.Sources{
		repo + "@main:.": "root", repo + "@main:a": "a", repo + "@main:a/b/": "ab", repo + "@main~shop:a": "shop",
		repo + "@dev:/x": "x",
		repo + "@old:":   "old", "no location": "none",
	}
	for key, want := range map[string]string{
		repo + "@main:z.yaml": "root", repo + "@main:ab/z.yaml": "root", repo + "@main:a/z.yaml#n": "a",
		repo + "@main:a/b/c/z.yaml":    "ab",
		repo + "@main~shop:a/b/z.yaml": "shop", repo + "@main~shop:b/z.yaml": "", repo + "@dev:x/z.yaml": "x",
		repo + "@dev:z.yaml": "",
		repo + "@old:z.yaml": "old", repo + ".git@main:z.yaml": "", repo + "@" + at + ":a/z.yaml": at,
	} {
		got := sources.Resolve([]string{"fleet/a.yaml", key})
		if len(got) != 1 || got[0].Commit != want {
			t.Errorf("%s is %v, want the commit %q", key, got, want)
		}
	}
	want := origin.Sources{repo + "@main:.": "root", repo + "@main:a/b/": "ab"}
	if diff := cmp.Diff(want, sources.Of([]string{repo + "@main:x.yaml", repo + "@main:a/b/x.yaml#x",
		repo + "@" + at + ":a", "fleet"})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := origin.Location(origin.Origin{Repo: repo, Branch: "main", Via: "shop", Path: "x", Name: "y"},
		"./a/"); got != repo+"@main~shop:a" {
		t.Errorf("the location is %q", got)
	}
	for key, valid := range map[string]bool{repo + "@main:": true, repo + "@" + at + ":.": true, "fleet/a.yaml": false} {
		if ps := (origin.Sources{key: at}).Validate(problem.Attr("sources")); (len(ps) == 0) != valid {
			t.Errorf("%s is valid: %t, but %v", key, valid, ps)
		}
	}
}
