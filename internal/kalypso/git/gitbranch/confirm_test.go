package gitbranch_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// packRequest selects the request that sends the pack of a push.
var packRequest = gitserver.Fault{Service: "git-receive-pack", Method: http.MethodPost}

// TestPushLostAnswer: the server accepted the push, but its answer is lost or reports a failure. The push succeeds
// with a single push.
func TestPushLostAnswer(t *testing.T) {
	for name, test := range map[string]func(f *gitserver.Fault){
		"connection closed": func(*gitserver.Fault) {},
		"gateway timeout":   func(f *gitserver.Fault) { f.Status = http.StatusGatewayTimeout },
		"forbidden":         func(f *gitserver.Fault) { f.Status = http.StatusForbidden },
		"answer never sent": func(f *gitserver.Fault) { f.Hang = true },
		"empty answer":      func(f *gitserver.Fault) { f.Status = http.StatusOK },
	} {
		t.Run("http/"+name, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.InitBare(t)
			gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
			server, url := gitserver.Serve(t, repo)
			fault := packRequest
			fault.Serve = true
			test(&fault)
			server.Fail(fault)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			r, err := push(ctx, open(t, url, "main"), noBackoff, returnEdit(edit("ours", folder("large", first))))
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "result", r, gitbranch.PushResult{Commit: plumbing.NewHash(gitserver.Rev(t, repo, "main")), Pushed: true})
			equal(t, "log", gitserver.Log(t, repo, "main"), []string{"ours", "Seed"})
		})
	}
	t.Run("ssh", func(t *testing.T) {
		t.Parallel()
		repo, server, b := overSSH(t)
		gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		server.DropAnswer(t, repo)
		r := mustPush(t, b, noBackoff, edit("ours", folder("large", first)))
		equal(t, "result", r, gitbranch.PushResult{Commit: plumbing.NewHash(gitserver.Rev(t, repo, "main")), Pushed: true})
		equal(t, "log", gitserver.Log(t, repo, "main"), []string{"ours", "Seed"})
	})
}

// TestPushLostAnswerThenOtherPush: the answer to our push is lost, and then another push moves the branch on.
func TestPushLostAnswerThenOtherPush(t *testing.T) {
	repo := gitserver.InitBare(t)
	server, url := gitserver.Serve(t, repo, gitserver.WithFilter())
	fault, ours := packRequest, ""
	fault.Serve = true
	fault.BeforeAnswer = func() {
		ours = gitserver.Rev(t, repo, "main")
		gitserver.Seed(t, repo, "main", map[string]string{"theirs": "1"})
	}
	server.Fail(fault)
	r := mustPush(t, open(t, url, "main"), gitbranch.PushOptions{CreateBranch: true}, edit("ours", folder("large", first)))
	equal(t, "commit", r.Commit.String(), ours)
	equal(t, "log", gitserver.Log(t, repo, "main"), []string{"Seed", "ours"})
}

// TestPushLostAnswerOfRefusedPush: the server did not accept the push, and its answer was lost. This is an error,
// after a single push.
func TestPushLostAnswerOfRefusedPush(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
	server, url := gitserver.Serve(t, repo)
	for _, status := range []int{0, http.StatusServiceUnavailable, http.StatusTooManyRequests} {
		fault := packRequest
		fault.Status, fault.Times = status, -1
		server.Fail(fault)
		server.ResetLog()
		_, err := push(t.Context(), open(t, url, "main"), noBackoff, returnEdit(edit("ours", folder("large", first))))
		kind := gitremote.ErrUnreachable
		if status == http.StatusTooManyRequests {
			kind = gitremote.ErrRateLimited
		}
		fails(t, err, kind)
		equal(t, "head", gitserver.Rev(t, repo, "main"), head)
		packs := 0
		for _, r := range server.Requests() {
			if r.Method == http.MethodPost && r.Service == "git-receive-pack" {
				packs++
			}
		}
		equal(t, "packs sent", packs, 1)
	}
}

// TestPushFalseSuccess: the server reports success for a push that it did not accept. The push fails.
func TestPushFalseSuccess(t *testing.T) {
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		repo := gitserver.InitBare(t)
		head := gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		server, url := gitserver.Serve(t, repo)
		fault := packRequest
		fault.Status, fault.Body = http.StatusOK, []byte(gitserver.FalseReport("main"))
		server.Fail(fault)
		_, err := push(t.Context(), open(t, url, "main"), noBackoff, returnEdit(edit("ours", folder("large", first))))
		fails(t, err, gitbranch.ErrPushLost)
		if !strings.Contains(err.Error(), head) {
			t.Errorf("the error does not name the head of the branch: %v", err)
		}
		server.Fail(fault)
		fails(t, open(t, url, "main").Delete(t.Context(), plumbing.NewHash(head)), gitbranch.ErrPushLost)

		// The branch has a new commit, but it is not ours.
		fault.BeforeAnswer = func() { gitserver.Seed(t, repo, "main", map[string]string{"theirs": "1"}) }
		server.Fail(fault)
		_, err = push(t.Context(), open(t, url, "main"), noBackoff, returnEdit(edit("ours", folder("large", first))))
		fails(t, err, gitbranch.ErrPushLost)
	})
	t.Run("ssh", func(t *testing.T) {
		t.Parallel()
		repo, server, b := overSSH(t)
		head := gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		greeting := gitserver.Packet(head+" refs/heads/main\x00report-status side-band-64k delete-refs ofs-delta\n") + "0000"
		server.Fail(t, gitserver.SSHFault{
			Service: "git-receive-pack", Output: []byte(greeting + gitserver.FalseReport("main")),
		})
		_, err := push(t.Context(), b, noBackoff, returnEdit(edit("ours", folder("large", first))))
		fails(t, err, gitbranch.ErrPushLost)
	})
}

// TestPushLaggingReplica: after the push, the server answers reads from a replica that does not have the commit yet.
func TestPushLaggingReplica(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
	server, url := gitserver.Serve(t, repo)
	old := gitserver.Packet(head+" HEAD\n") + gitserver.Packet(head+" refs/heads/main\n") + "0000"
	server.Fail(gitserver.Fault{
		Service: "git-upload-pack", Method: http.MethodPost, Skip: 2, Times: 2, Status: http.StatusOK, Body: []byte(old),
	})
	r := mustPush(t, open(t, url, "main"), noBackoff, edit("ours", folder("large", first)))
	equal(t, "head", gitserver.Rev(t, repo, "main"), r.Commit.String())
}

// TestPushLocked: an interrupted push left its lock on the server. After a few attempts, the error names the lock.
func TestPushLocked(t *testing.T) {
	forEachTransport(t, func(t *testing.T, repo string, b *gitbranch.Branch) {
		head := gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		lock := filepath.Join(repo, "refs", "heads", "main.lock")
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		tries := 0
		opts := gitbranch.PushOptions{}.WithBackoff(func(context.Context, int) error { tries++; return nil })
		_, err := push(t.Context(), b, opts, returnEdit(edit("ours", folder("large", first))))
		fails(t, err, gitremote.ErrBranchLocked)
		said := err.Error()
		if tries > 2 || !strings.Contains(said, "main.lock") || !strings.Contains(said, "remove the lock file") {
			t.Errorf("after %d retries: %v", tries, err)
		}
		equal(t, "head", gitserver.Rev(t, repo, "main"), head)

		// A lock that disappears belonged to another push, which has ended. Then the push succeeds.
		opts = opts.WithBackoff(func(context.Context, int) error { return os.Remove(lock) })
		mustPush(t, b, opts, edit("ours", folder("large", first)))
	})
}

// TestPushServerFull: the disk of the server is full. Git reports this in the answer, in the status or on stderr.
func TestPushServerFull(t *testing.T) {
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		repo := gitserver.InitBare(t)
		gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		server, url := gitserver.Serve(t, repo)
		words := gitserver.Packet("\x02error: unable to write file ./objects/ab: No space left on device\n" +
			"fatal: failed to write object: Permission denied\n")
		report := gitserver.Packet("unpack unpack-objects abnormal exit\n") +
			gitserver.Packet("ng refs/heads/main unpacker error\n") + "0000"
		for _, f := range []gitserver.Fault{
			{Status: http.StatusOK, Body: []byte(words + gitserver.Packet("\x01"+report) + "0000")},
			{Status: http.StatusInsufficientStorage},
		} {
			f.Service, f.Method = packRequest.Service, packRequest.Method
			server.Fail(f)
			_, err := push(t.Context(), open(t, url, "main"), noBackoff, returnEdit(edit("ours", folder("large", first))))
			fails(t, err, gitremote.ErrServerFull)
		}
	})
	t.Run("ssh", func(t *testing.T) {
		t.Parallel()
		repo, server, b := overSSH(t)
		gitserver.Seed(t, repo, "main", map[string]string{"x": "1"})
		server.Fail(t, gitserver.SSHFault{
			Service: "git-receive-pack",
			Stderr:  "fatal: unable to create '/srv/gitops.git/objects/tmp': No space left on device\nPermission denied\n",
		})
		_, err := push(t.Context(), b, noBackoff, returnEdit(edit("ours", folder("large", first))))
		fails(t, err, gitremote.ErrServerFull)
	})
}

func overSSH(t *testing.T) (repo string, server *gitserver.SSHServer, b *gitbranch.Branch) {
	repo, server = gitserver.InitBare(t), gitserver.NewSSH(t)
	b = open(t, server.URL(repo), "main", gitremote.Credential{
		URL: "ssh://" + server.Host, PrivateKey: server.PrivateKey, KnownHosts: server.KnownHosts,
	})
	return repo, server, b
}
