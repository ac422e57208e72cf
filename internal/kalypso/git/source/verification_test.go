package source_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/verify"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/signingkey"
)

// verification returns a verification that accepts the signatures of these keys.
func verification(t *testing.T, mode string, keys ...signingkey.Key) *source.Verification {
	t.Helper()
	a := verify.Arguments{Mode: mode}
	for _, key := range keys {
		if strings.HasPrefix(key.Public, "-----") {
			a.OpenPGP = append(a.OpenPGP, key.Public)
		} else {
			a.SSH = append(a.SSH, key.Public)
		}
	}
	v, errs := verify.New(a)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return &source.Verification{Verifier: v, Now: time.Now()}
}

const notVerified = " Commit not verified"

// TestWorkloadsVerify: a registration is broken if none of the listed keys signed its commit. It is read at its last
// delivered commit instead, if a listed key signed that commit.
func TestWorkloadsVerify(t *testing.T) {
	t.Parallel()
	s := serve(t, gitserver.WithFilter())
	ann, eve := signingkey.NewSSH(t), signingkey.NewSSH(t)
	pgp := signingkey.NewOpenPGP(t)
	delivered := map[string]string{}
	var registrations []*fleet.WorkloadRegistration
	// The keys sign the commits, the oldest first. nil stands for an unsigned commit.
	for name, keys := range map[string][]*signingkey.Key{
		"fine": {nil, &ann}, "pgp": {nil, &pgp}, "eve": {nil, &eve}, "back": {&ann, nil}, "never": {nil, nil},
	} {
		for i, key := range keys {
			commit := s.commit(name, "main", map[string]string{"w/w.yaml": workload(name), "n": fmt.Sprint(i)})
			if key != nil {
				commit = key.SignHead(t, s.dir(name), "main")
			}
			if i == 0 {
				delivered[name] = commit
			}
		}
		registrations = append(registrations, s.registration(name, "main", "w"))
	}
	follow := source.FollowOptions{Verify: verification(t, "head", ann, pgp)}
	got := reader(t).Workloads(t.Context(), registrations, follow)
	wants(t, got.Problems, []string{"error back" + notVerified, "error eve" + notVerified, "error never" + notVerified},
		"its signature is not accepted: it is signed by a key that is not in the list: SHA256:", "it is not signed")
	want := map[string]string{
		gitserver.Rev(t, s.dir("fine"), "main"): signingkey.Email,
		gitserver.Rev(t, s.dir("pgp"), "main"):  "Kalypso <" + signingkey.Email + ">",
	}
	if diff := cmp.Diff(want, got.Verified); diff != "" || len(got.Names[fleet.KindWorkload]) != 2 {
		t.Errorf("verified (-want +got):\n%s\nWorkloads %v", diff, got.Names[fleet.KindWorkload])
	}

	follow.LastGood = func(context.Context, *source.GitOpsRepo) (all []origin.Origin, err error) {
		for name, commit := range delivered {
			all = append(all, origin.Origin{Repo: s.url(name), Branch: "main", Commit: commit, Path: "w/w.yaml", Name: name})
		}
		return all, nil
	}
	got = reader(t).Workloads(t.Context(), registrations, follow)
	wants(t, got.Problems, []string{"warning back" + notVerified, "error eve" + notVerified, "error never" + notVerified},
		"The last delivered commit "+delivered["back"]+" is read instead", "is broken too: Commit ")
	want[delivered["back"]] = signingkey.Email
	if diff := cmp.Diff(want, got.Verified); diff != "" {
		t.Errorf("verified after last_good (-want +got):\n%s", diff)
	}
}

// TestWorkloadsVerifyHistory: in the mode history, each first-parent commit since the last delivery must be signed.
// Commits that were delivered before, and commits of merged branches, need no signature.
func TestWorkloadsVerifyHistory(t *testing.T) {
	t.Parallel()
	s := serve(t, gitserver.WithFilter())
	ann := signingkey.NewSSH(t)
	dir := s.dir("shop")
	step := 0
	commit := func(branch string, signed bool) string {
		step++
		made := s.commit("shop", branch, map[string]string{"w/w.yaml": workload("shop"), "n": fmt.Sprint(step)})
		if signed {
			made = ann.SignHead(t, dir, branch)
		}
		return made
	}
	commit("main", false)
	older := commit("main", true)
	first := commit("main", false)
	gitserver.Git(t, dir, "update-ref", "refs/heads/topic", first)
	topic := commit("topic", false)
	good := commit("main", true)
	tree := strings.TrimSpace(gitserver.Git(t, dir, "rev-parse", "main^{tree}"))
	merge := strings.TrimSpace(gitserver.Git(t, dir, "commit-tree", tree, "-p", good, "-p", topic, "-m", "Merge"))
	gitserver.Git(t, dir, "update-ref", "refs/heads/main", merge)
	merge = ann.SignHead(t, dir, "main")
	unsigned := commit("main", false)
	head := commit("main", true)
	gitserver.Git(t, dir, "update-ref", "refs/heads/rewritten", first)
	rewritten := commit("rewritten", true)
	orphan := strings.TrimSpace(gitserver.Git(t, dir, "commit-tree", tree, "-m", "Orphan"))
	gitserver.Git(t, dir, "update-ref", "refs/heads/orphan", orphan)
	orphan = ann.SignHead(t, dir, "orphan")

	for _, test := range []struct{ name, at, delivered, want string }{
		{"no delivery", head, "", ""},
		{"no new commit", head, head, ""},
		{"one new commit", head, unsigned, ""},
		{"unsigned commit below the head", head, merge, "Commit " + unsigned + " is not verified: its signature"},
		{"merge of unsigned commits", merge, first, ""},
		{"delivery several commits ago", head, older, unsigned},
		{"commit older than the delivery", older, head, ""},
		{"rewritten branch with a common commit", rewritten, head, ""},
		{"branch without a common commit", orphan, head, "no commit in common with the last delivery, " + head},
		{"delivered commit that the server lost", head, strings.Repeat("1", 40), "no commit in common"},
	} {
		follow := source.FollowOptions{
			Pins: map[string]string{"shop": test.at}, Verify: verification(t, "history", ann),
			Delivered: func(context.Context, *source.GitOpsRepo) (all []origin.Origin, err error) {
				if test.delivered != "" {
					all = append(all, origin.Origin{Repo: s.url("shop"), Branch: "main", Commit: test.delivered, Path: "w/w.yaml"})
				}
				return append(all, origin.Origin{Repo: s.url("other"), Branch: "main", Commit: first}), nil
			},
		}
		got := reader(t).Workloads(t.Context(), []*fleet.WorkloadRegistration{s.registration("shop", "main", "w")}, follow)
		var want []string
		if test.want != "" {
			want = []string{"error shop" + notVerified}
		}
		t.Run(test.name, func(t *testing.T) { wants(t, got.Problems, want, test.want) })
	}
	follow := source.FollowOptions{
		Verify: verification(t, "history", ann),
		Delivered: func(context.Context, *source.GitOpsRepo) ([]origin.Origin, error) {
			return nil, errors.New("no answer")
		},
	}
	got := reader(t).Workloads(t.Context(), []*fleet.WorkloadRegistration{s.registration("shop", "main", "w")}, follow)
	wants(t, got.Problems, []string{"error shop Location can't be read"}, "No answer.")
}

// TestControlPlaneVerify: the commits of a control plane, of its bases and of its registrations must all be signed. A
// promotion can exempt the commit that it promotes.
func TestControlPlaneVerify(t *testing.T) {
	t.Parallel()
	s := serve(t, gitserver.WithFilter())
	ann := signingkey.NewSSH(t)
	s.commit("shop", "main", map[string]string{"w/w.yaml": workload("shop")})
	base := s.commit("cp", "main", map[string]string{"t.yaml": document("ClusterType", "large",
		"{reconciler: r, namespaceService: ns}")})
	own := map[string]string{
		"base.yaml":   document("BaseRepo", "main", "{repo: "+s.url("cp")+", branch: main, path: ., commit: "+base+"}"),
		"gitops.yaml": document("GitOpsRepo", "prod", "{repo: "+s.url("gitops")+", branch: prod, path: .}"),
		"shop.yaml": document("WorkloadRegistration", "shop", "{workload: {repo: "+s.url("shop")+
			", branch: main, path: w}, workspace: shop}"),
	}
	before := s.commit("cp", "prod", own)
	read := func(mode string, p promotion.Promotion) *source.ControlPlane {
		return reader(t).ControlPlane(t.Context(), source.ControlPlaneRequest{
			Location:   source.Location{Repo: s.url("cp"), Branch: "prod", Path: "."},
			FollowBase: true, FollowRegistrations: true, Promotion: p, Follow: source.FollowOptions{
				Verify: verification(t, mode, ann),
				Delivered: func(_ context.Context, at *source.GitOpsRepo) ([]origin.Origin, error) {
					if at.Branch != "prod" {
						t.Errorf("the last delivery is read at %+v", at)
					}
					return []origin.Origin{{Repo: s.url("cp"), Branch: "prod", Commit: before, Path: "base.yaml"}}, nil
				},
			},
		})
	}
	got := read("head", promotion.Promotion{})
	wants(t, got.Problems, []string{"error" + notVerified}, "Commit "+before+" is not verified")

	head := ann.SignHead(t, s.dir("cp"), "prod")
	wants(t, read("head", promotion.Promotion{}).Problems, []string{"error" + notVerified, "error shop" + notVerified},
		"Commit "+base+" is not verified", "Named by: ")
	registered := ann.SignHead(t, s.dir("shop"), "main")
	lifted := promotion.Promotion{Commit: base, Unverified: "it is not signed"}
	got = read("head", lifted)
	wants(t, got.Problems, []string{"warning Promoted commit not verified"}, "uses this commit, although it is not signed")
	want := map[string]string{head: signingkey.Email, registered: signingkey.Email}
	if diff := cmp.Diff(want, got.Verified); diff != "" {
		t.Errorf("verified (-want +got):\n%s", diff)
	}
	promoted := ann.SignHead(t, s.dir("cp"), "main")
	got = read("head", promotion.Promotion{Commit: promoted})
	wants(t, got.Problems, nil)
	if got.Verified[promoted] == "" || len(got.Verified) != 3 {
		t.Errorf("verified is %v", got.Verified)
	}

	before = head
	bad := s.commit("cp", "prod", map[string]string{"note.txt": "x"})
	s.commit("cp", "prod", map[string]string{"note.txt": "y"})
	ann.SignHead(t, s.dir("cp"), "prod")
	wants(t, read("head", promotion.Promotion{Commit: promoted}).Problems, nil)
	wants(t, read("history", promotion.Promotion{Commit: promoted}).Problems, []string{"error" + notVerified},
		"Commit "+bad+" is not verified: its signature is not accepted: it is not signed")

	s.commit("bare", "prod", map[string]string{"t.yaml": document("ClusterType", "large",
		"{reconciler: r, namespaceService: ns}")})
	ann.SignHead(t, s.dir("bare"), "prod")
	bare := reader(t).ControlPlane(t.Context(), source.ControlPlaneRequest{
		Location: source.Location{Repo: s.url("bare"), Branch: "prod", Path: "."}, FollowRegistrations: true,
		Follow: source.FollowOptions{
			Verify: verification(t, "history", ann),
			Delivered: func(context.Context, *source.GitOpsRepo) ([]origin.Origin, error) {
				return nil, errors.New("no place")
			},
		},
	})
	wants(t, bare.Problems, []string{"warning History not verified"})

	folder := reader(t).ControlPlane(t.Context(), source.ControlPlaneRequest{
		Location: source.Location{Directory: t.TempDir()}, Follow: source.FollowOptions{Verify: verification(t, "head", ann)},
	})
	wants(t, folder.Problems, []string{"error" + notVerified}, "only commits are signed")
}
