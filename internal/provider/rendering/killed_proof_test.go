package rendering_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// killAfterPush runs an apply that is killed right after its push, so that Terraform saves nothing.
func (r *killedRun) killAfterPush() {
	r.T.Helper()
	ctx, cancel := context.WithCancel(r.T.Context())
	defer cancel()
	before, head := r.Resource, gitserver.Rev(r.T, r.on.Path, "dev")
	r.fake.Git.Fail(gitserver.Fault{
		Service: "git-receive-pack", Method: http.MethodPost, Serve: true, BeforeAnswer: cancel,
	})
	_, ds := r.run(ctx)
	r.Resource = before
	r.fake.Git.ClearFaults()
	if gitserver.Rev(r.T, r.on.Path, "dev") == head {
		r.fatalf("the apply pushed nothing:\n%s", ds)
	}
	r.did("an apply is killed right after its push")
}

// promoted returns the commit of the control plane that the record on the branch names, as the number of the commit.
func (r *killedRun) promoted() int {
	r.T.Helper()
	text := gitserver.Tree(r.T, r.on.Path, "dev")[acc.RecordPath]
	for i, commit := range r.commits {
		if strings.Contains(text, `"promoted_commit": "`+commit+`"`) {
			return i + 1
		}
	}
	r.fatalf("the record names no commit: %s", text)
	return 0
}

// TestKilledPromotionApproved: an apply pushed a promotion, and was killed before its state was saved. The gates have
// closed since, and then people approve the promoted commit. Nothing is refused, the promoted commit stays, and the
// plan is empty.
func TestKilledPromotionApproved(t *testing.T) {
	for _, drift := range []string{"fail", "overwrite"} {
		for name, applies := range map[string]int{"at once": 0, "after an apply": 1} {
			t.Run(drift+", approved "+name, func(t *testing.T) {
				t.Parallel()
				r := newKilledRun(t, 0)
				r.given["on_drift"] = drift
				r.settle()
				r.commit("success")
				r.killAfterPush()
				head := gitserver.Rev(t, r.on.Path, "dev")
				r.status(r.commits[1], "failure")
				for range applies {
					if _, ds := r.run(t.Context()); ds.HasErrors() {
						r.fatalf("an apply while the gate is closed is refused:\n%s", ds)
					}
				}
				r.rule("approved", []any{r.commits[1]})
				r.settle()
				if at := r.promoted(); at != 2 {
					r.fatalf("commit %d is promoted, want 2", at)
				}
				if now := gitserver.Rev(t, r.on.Path, "dev"); applies == 0 && now != head {
					r.fatalf("the branch moved from %s to %s, although nothing changed", head, now)
				}
				changes, ds := r.run(t.Context())
				if changes || ds.HasErrors() {
					r.fatalf("the plan is not empty:\n%s", ds)
				}
			})
		}
	}
}

// TestProofOnBranch: an apply that was killed left a commit with one proof, which Git reads as a trailer. The next
// apply takes the commit for its own as long as one of the last commits has the proof on a line of its own. Without it,
// or with another one, the apply refuses the commit as drift.
func TestProofOnBranch(t *testing.T) {
	proof := regexp.MustCompile(`\nKalypso-Proof: ([0-9a-f]{40})`)
	for name, test := range map[string]struct {
		message func(message string) string
		own     bool
	}{
		"as it was pushed": {func(message string) string { return message }, true},
		"squashed by a host": {func(message string) string {
			return "Merge it (#1)\n\n* " + strings.ReplaceAll(message, "\n\n", "\n\n* Text\n\n") +
				"\n\nCo-authored-by: A <a@acme.io>"
		}, true},
		"without the proof": {func(message string) string { return proof.ReplaceAllString(message, "") }, false},
		"with another proof": {func(message string) string {
			return proof.ReplaceAllString(message, "\nKalypso-Proof: "+strings.Repeat("0", 40))
		}, false},
		"with the proof in a sentence": {func(message string) string {
			return proof.ReplaceAllString(message, "\nSee Kalypso-Proof: $1")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newKilledRun(t, 0)
			r.settle()
			r.commit("success")
			r.killAfterPush()
			read := func(format string) string {
				return strings.TrimSpace(gitserver.Git(t, r.on.Path, "log", "-1", "--format="+format, "dev"))
			}
			message := read("%B")
			if trailers := read("%(trailers:key=Kalypso-Proof,valueonly)"); len(trailers) != 40 ||
				len(proof.FindAllString(message, -1)) != 1 || proof.FindStringSubmatch(message)[1] != trailers {
				t.Fatalf("Git reads the proof %q in %q", trailers, message)
			}
			commit := gitserver.Git(t, r.on.Path, "-c", "user.name=a", "-c", "user.email=a@acme.io", "commit-tree", "-p",
				"dev^", "-m", test.message(message), "dev^{tree}")
			gitserver.Git(t, r.on.Path, "update-ref", "refs/heads/dev", strings.TrimSpace(commit))
			r.own++ // else the branch contains what this apply wants, and nothing is refused
			r.did("the commit of the apply is rewritten %s, and the environment's own value changes", name)
			_, ds := r.run(t.Context())
			if refused := ds.HasErrors() && strings.Contains(ds.String(), "Drift: "); refused == test.own {
				r.fatalf("refused: %t, and the commit is its own: %t\n%s", refused, test.own, ds)
			}
			if test.own {
				r.settle()
			}
		})
	}
}
