package configuration_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/signingkey"
)

// signedRun runs a resource whose provider signs commits.
func signedRun(t *testing.T, resource string, key signingkey.Key, config map[string]any) *acc.ProtocolRun {
	t.Helper()
	given := map[string]any{
		"commit_author":   map[string]any{"name": "Kalypso", "email": signingkey.Email},
		"commit_signing":  map[string]any{"private_key": key.Private},
		"commit_trailers": map[string]any{"Signed-off-by": "Platform <platform@acme.io>", "Ticket": "ACME-1"},
	}
	maps.Copy(given, config)
	return &acc.ProtocolRun{T: t, Resource: protocol.Resource{Type: resource}, Config: given}
}

// smallRendering returns the arguments of a rendering of one deployment target.
func smallRendering(repo, branch, value string) map[string]any {
	return map[string]any{
		"environment": "dev",
		"gitops_repo": map[string]any{"repo": repo, "branch": branch},
		"guardrails":  map[string]any{"max_removed": "100%", "allow_empty": true},
		"cluster_types": map[string]any{"large": map[string]any{
			"name": "large", "reconciler": "r", "namespace_service": "n", "config_type": "c",
		}},
		"templates": map[string]any{
			"r": map[string]any{"name": "r", "type": "reconciler", "manifests": []any{"# r: {{ .Namespace }}\n"}},
			"n": map[string]any{"name": "n", "type": "namespace", "manifests": []any{"# n: {{ .Namespace }}\n"}},
			"c": map[string]any{"name": "c", "type": "config", "manifests": []any{"# v: " + value + "\n"}},
		},
		"scheduling_policies": map[string]any{"all": map[string]any{
			"name": "all", "deployment_target_selector": map[string]any{"match_all": true},
			"cluster_type_selector": map[string]any{"match_all": true},
		}},
		"workloads": map[string]any{"shop": map[string]any{"name": "shop", "deployment_targets": []any{
			map[string]any{"name": "web", "environment": "dev"},
		}}},
	}
}

// ourCommits verifies the signatures of the provider's commits on all branches of a repo, and returns their subjects,
// sorted.
func ourCommits(t *testing.T, repo string, key signingkey.Key) []string {
	t.Helper()
	ours := gitserver.Git(t, repo, "log", "--all", "--author="+signingkey.Email, "--format=%H %s")
	var subjects []string
	for line := range strings.Lines(ours) {
		commit, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		key.VerifyCommits(t, repo, commit)
		subjects = append(subjects, subject)
	}
	slices.Sort(subjects)
	return subjects
}

// TestSigningOfPushes: the commits of a first delivery, a change, a move and a destroy are signed, and have the
// trailers. If only the key and the trailers change, there is no commit.
func TestSigningOfPushes(t *testing.T) {
	t.Parallel()
	key := signingkey.NewSSH(t)
	repo := gitserver.InitBare(t)
	for _, branch := range []string{"dev", "live"} {
		gitserver.Seed(t, repo, branch, map[string]string{"README.md": "theirs\n"})
	}
	p := signedRun(t, "kalypso_environment_rendering", key, nil)
	apply := func(branch, value string, trailers map[string]any) {
		t.Helper()
		given := smallRendering("file://"+repo, branch, value)
		given["deletion_protection"], given["commit_trailers"] = false, trailers
		p.Run(given, given)
	}
	apply("dev", "1", nil)
	apply("dev", "2", map[string]any{"ticket": "ACME-2", "Change-Id": "I1"})
	got := gitserver.Git(t, repo, "log", "-1", "--format=%(trailers:only)", "dev")
	got, proof, proven := strings.Cut(strings.TrimSpace(got), "\nKalypso-Proof: ")
	if !proven || !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(proof) {
		t.Errorf("the last trailer is no proof: %q", proof)
	}
	want := "Change-Id: I1\nSigned-off-by: Platform <platform@acme.io>\nticket: ACME-2"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the trailers of the provider and of the rendering (-want +got):\n%s", diff)
	}
	before := gitserver.Rev(t, repo, "dev")
	another := signedRun(t, "kalypso_environment_rendering", signingkey.NewOpenPGP(t), nil)
	p.Config, another.Config = another.Config, p.Config
	apply("dev", "2", nil)
	if after := gitserver.Rev(t, repo, "dev"); after != before {
		t.Error("another key and other trailers alone made a commit")
	}
	p.Config = another.Config
	apply("live", "2", nil)
	p.Destroy()
	if diff := cmp.Diff([]string{
		"Move the rendering of environment dev away", "Remove the rendering of environment dev",
		"Render environment dev", "Render environment dev", "Render environment dev",
	}, ourCommits(t, repo, key)); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
}

// TestSigningOfRecords: the first commit of a record's branch and the next commit are signed, and have the trailers.
func TestSigningOfRecords(t *testing.T) {
	t.Parallel()
	key := signingkey.NewSSH(t)
	repo := gitserver.InitBare(t)
	p := signedRun(t, "kalypso_deployment_record", key, nil)
	for n := range 2 {
		o := observation.Observation{Environment: "prod", Repo: "https://acme.io/gitops", Branch: "prod", Path: ".",
			ObservedAt: time.Date(2026, 1, 1, n, 0, 0, 0, time.UTC), Head: "head", Verdict: "success",
			Groups: []observation.Group{{
				Place: observation.Place{ClusterType: "large", Target: "web"},
				Condition: observation.Condition{
					State: "current", Version: observation.Version{Version: fmt.Sprint(n), Content: fmt.Sprint(n)},
				},
				Members: []observation.Member{{Cluster: "c1"}},
			}}}
		given := map[string]any{"deployment": map[string]any{"head": "head", "observation": o.Encode()},
			"store": map[string]any{"git": map[string]any{"repo": "file://" + repo, "branch": "history"}}}
		p.Run(given, given)
	}
	if diff := cmp.Diff([]string{"Record what ran in prod: 1 change", "Record what ran in prod: 1 change"},
		ourCommits(t, repo, key)); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
	got := gitserver.Git(t, repo, "log", "-1", "--format=%(trailers:only)", "history")
	if want := "Signed-off-by: Platform <platform@acme.io>\nTicket: ACME-1"; strings.TrimSpace(got) != want {
		t.Errorf("the trailers are %q, want %q", got, want)
	}
}

// TestSigningOfPullRequests: the commits on the branches of pull requests are signed: of a rendering, of its removal
// after a move, and of a BaseRepo. The trailer Kalypso-Rendering comes after the configured ones. The
// first commit of a rendering has no proof.
func TestSigningOfPullRequests(t *testing.T) {
	t.Parallel()
	key := signingkey.NewOpenPGP(t)
	fake := githubfake.New(t)
	on := fake.AddRepo(t, "acme/gitops")
	for _, branch := range []string{"dev", "live"} {
		gitserver.Seed(t, on.Path, branch, map[string]string{"README.md": "theirs\n"})
	}
	config := map[string]any{"github": map[string]any{"base_url": fake.URL, "token": fake.Token}}
	p := signedRun(t, "kalypso_environment_rendering", key, config)
	merge := func() {
		t.Helper()
		for _, pr := range on.PullRequests() {
			if pr.State == "open" {
				on.Merge(t, pr.Number, "merge")
			}
		}
	}
	for _, branch := range []string{"dev", "live", "live"} { // the third apply proposes to remove the tree from dev
		given := smallRendering(on.URL, branch, "1")
		given["delivery"] = map[string]any{"strategy": "pull_request"}
		p.Run(given, given)
		merge()
	}
	base := signedRun(t, "kalypso_base_repo", key, config)
	promotion := map[string]any{"commit": strings.Repeat("1", 40), "decision": "promote", "summary": "All gates hold.",
		"control_plane": map[string]any{"repo": "https://git.acme.io/control-plane", "branch": "main"}}
	given := map[string]any{"repo": on.URL, "branch": "dev", "promotion": promotion,
		"delivery": map[string]any{"strategy": "pull_request"}}
	base.Run(given, given)
	merge()
	promotion["commit"], given["delivery"] = strings.Repeat("2", 40), nil
	base.Run(given, given)
	if diff := cmp.Diff([]string{
		"Move the rendering of environment dev away", "Render environment dev", "Render environment dev",
		"Set the base of dev to 111111111111", "Set the base of dev to 222222222222",
	}, ourCommits(t, on.Path, key)); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
	trailers := gitserver.Git(t, on.Path, "log", "--all", "--author="+signingkey.Email, "--grep=Render environment",
		"--format=%(trailers:keyonly,separator=%x20)")
	want := []string{"Signed-off-by Ticket Kalypso-Proof Kalypso-Rendering", "Signed-off-by Ticket Kalypso-Rendering"}
	got := slices.Sorted(strings.Lines(trailers))
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trailers (-want +got):\n%s", diff)
	}
}

// TestSigningRequired: if a server accepts only signed commits, the error names the arguments to set.
func TestSigningRequired(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"error: GH013: Repository rule violations found for refs/heads/dev. - Commits must have verified signatures.",
		"GitLab: Commit must be signed with a GPG key", "GitLab: Commit must be signed",
		"Gitea: branch dev is protected from unverified commit 1234",
		"Forgejo: Branch dev is protected from unverified commit 1234",
	} {
		repo := gitserver.InitBare(t)
		gitserver.Seed(t, repo, "dev", map[string]string{"README.md": "theirs\n"})
		gitserver.Hook(t, repo, "pre-receive", said, 1)
		given := smallRendering("file://"+repo, "dev", "1")
		p := acc.NewRenderingRun(t)
		_, ds := p.TryRun(given)
		for _, want := range []string{said, "commit_signing", "commit_author.email", "Nothing was written"} {
			if !strings.Contains(ds.String(), want) {
				t.Errorf("the error does not say %q:\n%s", want, ds)
			}
		}
	}
}

// TestSigningArguments: each error in the arguments for signatures and trailers is at its attribute.
func TestSigningArguments(t *testing.T) {
	key := signingkey.NewSSH(t)
	server := provider.NewServer("test")
	schemas := protocol.ReadSchemas(t, server)
	for name, test := range map[string]struct {
		config map[string]any
		env    map[string]string
		want   string
	}{
		"no signing":    {},
		"private key":   {config: map[string]any{"commit_signing": map[string]any{"private_key": key.Private}}},
		"unknown block": {config: map[string]any{"commit_signing": protocol.Unknown}},
		"unknown key": {
			config: map[string]any{"commit_signing": map[string]any{"private_key": protocol.Unknown}},
		},
		"key from the environment": {env: map[string]string{"KALYPSO_SIGNING_KEY": key.Private}},
		"unknown trailer":          {config: map[string]any{"commit_trailers": map[string]any{"A": protocol.Unknown}}},
		"format without a key": {config: map[string]any{"commit_signing": map[string]any{"format": "ssh"}},
			want: "Attribute: commit_signing.private_key"},
		"format of another key": {config: map[string]any{"commit_signing": map[string]any{"format": "openpgp"}},
			env:  map[string]string{"KALYPSO_SIGNING_KEY": key.Private},
			want: "Attribute: commit_signing.format"},
		"path from the environment": {env: map[string]string{"KALYPSO_SIGNING_KEY": "~/key"},
			want: "starts with -----BEGIN. It is read from the environment variable KALYPSO_SIGNING_KEY."},
		"trailer with a space": {config: map[string]any{"commit_trailers": map[string]any{"Signed off": "a"}},
			want: `ERROR: Invalid trailer [AttributeName("commit_trailers").ElementKeyString("Signed off")]`},
		"same trailer twice": {config: map[string]any{"commit_trailers": map[string]any{"a": "1", "A": "2"}},
			want: `ERROR: Invalid trailer [AttributeName("commit_trailers")]`},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range test.env {
				t.Setenv(variable, value)
			}
			_, ds := schemas.Start(t, server, test.config)
			if got := ds.String(); test.want == "" && ds.HasErrors() || !strings.Contains(got, test.want) {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
	given := smallRendering("https://git.acme.io/gitops", "dev", "1")
	given["commit_trailers"] = map[string]any{"Ticket": "1\n2"}
	p := acc.NewRenderingRun(t)
	_, ds := p.TryRun(given)
	if want := `ERROR: Invalid trailer [AttributeName("commit_trailers").ElementKeyString("Ticket")]`; !strings.Contains(
		ds.String(), want) {
		t.Errorf("got %s\nwant %s", ds, want)
	}
}

// TestAccSigningSecrets: no output, state, plan or log of an apply that signs contains the passphrase or a line of the
// key.
func TestAccSigningSecrets(t *testing.T) {
	const passphrase = "canary-7d1a"
	key := signingkey.NewSSH(t).Encrypted(t, passphrase)
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "dev", map[string]string{"README.md": "theirs\n"})
	r := acc.NewRoot(t, map[string]string{"main.tf.json": acc.ToJSON(t, map[string]any{
		"terraform": map[string]any{"required_providers": map[string]any{
			"kalypso": map[string]any{"source": acc.OwnAddress},
		}},
		"variable": map[string]any{"passphrase": map[string]any{"type": "string", "ephemeral": true, "sensitive": true}},
		"provider": map[string]any{"kalypso": map[string]any{
			"commit_author":  map[string]any{"email": signingkey.Email},
			"commit_signing": map[string]any{"passphrase": "${var.passphrase}", "format": "ssh"},
		}},
		"resource": map[string]any{"kalypso_environment_rendering": map[string]any{
			"this": smallRendering("file://"+repo, "dev", "1"),
		}},
	})})
	r.StartProviders() // so that they have their own log and environment
	r.Env = append(r.Env, "TF_LOG=TRACE", "TF_LOG_PATH="+filepath.Join(r.Folder, "trace.log"),
		"TF_VAR_passphrase="+passphrase, "KALYPSO_SIGNING_KEY="+key.Private)
	out := r.Succeed("plan", "-no-color", "-out=plan")
	applied := r.Succeed("apply", "-no-color", "plan")
	shown := r.Succeed("show", "-no-color", "-json", "plan")
	if commits := ourCommits(t, repo, key); len(commits) != 1 {
		t.Errorf("the signed commits are %v", commits)
	}
	for name, text := range map[string]string{
		"plan":       out.Stdout + out.Stderr,
		"apply":      applied.Stdout + applied.Stderr,
		"log":        acc.ReadFile(t, filepath.Join(r.Folder, "trace.log")),
		"state":      acc.ReadFile(t, filepath.Join(r.Folder, "terraform.tfstate")),
		"shown plan": shown.Stdout,
	} {
		for secret := range strings.Lines(key.Private + "\n" + passphrase) {
			secret = strings.TrimSpace(secret)
			if secret != "" && strings.Contains(text, secret) {
				t.Errorf("a secret is in the %s", name)
			}
		}
	}
}
