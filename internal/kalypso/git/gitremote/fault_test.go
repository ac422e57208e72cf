package gitremote_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// waits records how long a client waits before each retry.
type waits []time.Duration

func (w *waits) option() gitremote.Option {
	return gitremote.WithSleep(func(ctx context.Context, d time.Duration) error {
		*w = append(*w, d)
		return ctx.Err()
	})
}

// readAll looks up the branch, fetches its commit, and prepares a push. All these requests may be repeated.
func readAll(ctx context.Context, r remote, want string) error {
	rd := r.Reader(ctx, gitremote.ReadLimits{})
	defer rd.Close()
	head, err := rd.Ref(main)
	if err != nil {
		return err
	}
	got := gitremote.Objects{}
	if err := rd.Fetch(gitremote.FetchRequest{Wants: []plumbing.Hash{head}, Depth: 1}, got); err != nil {
		return err
	}
	if _, here := got[head]; !here || head.String() != want {
		return fmt.Errorf("fetched %s: %t, want the branch's head %s", head, here, want)
	}
	w, err := r.Writer(ctx)
	if err != nil {
		return err
	}
	w.Close()
	return nil
}

// TestRetry: a request is repeated up to three times if the server is busy or the connection breaks.
func TestRetry(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": strings.Repeat("content\n", 1000)})
	faults := map[string]gitserver.Fault{
		"429":               {Status: http.StatusTooManyRequests},
		"502":               {Status: http.StatusBadGateway},
		"503":               {Status: http.StatusServiceUnavailable},
		"504":               {Status: http.StatusGatewayTimeout},
		"connection closed": {},
		"answer cut off":    {Cut: 30},
	}
	requests := map[string]gitserver.Fault{
		"greeting of a read": {Service: "git-upload-pack", Method: http.MethodGet},
		"ls-refs":            {Service: "git-upload-pack", Method: http.MethodPost},
		"fetch":              {Service: "git-upload-pack", Method: http.MethodPost, Skip: 1},
		"greeting of a push": {Service: "git-receive-pack", Method: http.MethodGet},
	}
	for request, where := range requests {
		for name, f := range faults {
			t.Run(request+"/"+name, func(t *testing.T) {
				t.Parallel()
				server, url := gitserver.Serve(t, repo)
				f.Service, f.Method, f.Skip, f.Times = where.Service, where.Method, where.Skip, 3
				server.Fail(f)
				var waited waits
				if err := readAll(t.Context(), open(t, url, nil, waited.option()), head); err != nil {
					t.Fatal(err)
				}
				for i, w := range waited {
					if least := 250 * time.Millisecond << i; w < least || w > 3*least {
						t.Errorf("wait %d is %s", i+1, w)
					}
				}
				if len(waited) < 2 || len(waited) > 3 { // net/http repeats a request itself if an idle connection was closed
					t.Errorf("waited %d times", len(waited))
				}

				f.Times = -1
				server.Fail(f)
				kind := gitremote.ErrUnreachable
				if f.Status == http.StatusTooManyRequests {
					kind = gitremote.ErrRateLimited
				}
				err := readAll(t.Context(), open(t, url, nil, waited.option()), head)
				is(t, err, kind)
				if !strings.Contains(err.Error(), "4 attempts") {
					t.Errorf("the error does not name the number of attempts: %v", err)
				}
			})
		}
	}
}

// TestRetrySSH: if an SSH connection breaks, another one is opened, up to three times.
func TestRetrySSH(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": "1"})
	for _, service := range []string{"git-upload-pack", "git-receive-pack"} {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			server := gitserver.NewSSH(t)
			var waited waits
			r := open(t, server.URL(repo), sshCredential(server), waited.option())
			server.Fail(t, gitserver.SSHFault{Service: service, Times: 3})
			if err := readAll(t.Context(), r, head); err != nil || len(waited) != 3 {
				t.Fatalf("waited %d times: %v", len(waited), err)
			}
			server.Fail(t, gitserver.SSHFault{Service: service, Times: -1})
			is(t, readAll(t.Context(), r, head), gitremote.ErrUnreachable)
		})
	}
}

// TestNoRetry: an answer that will not change, such as 403 or 404, is not requested again.
func TestNoRetry(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": "1"})
	var waited waits
	for _, status := range []int{400, 401, 403, 404, 413, 500, 501} {
		server, url := gitserver.Serve(t, repo)
		server.Fail(gitserver.Fault{Status: status, Header: http.Header{"Retry-After": {"0"}}})
		if err := readAll(t.Context(), open(t, url, nil, waited.option()), head); err == nil || len(waited) > 0 {
			t.Errorf("%d: waited %v: %v", status, waited, err)
		}
	}
	server := gitserver.NewSSH(t)
	server.Fail(t, gitserver.SSHFault{Stderr: "some words\n"})
	err := readAll(t.Context(), open(t, server.URL(repo), sshCredential(server), waited.option()), head)
	if err == nil || len(waited) > 0 || !strings.Contains(err.Error(), "some words") {
		t.Errorf("ssh: waited %v: %v", waited, err)
	}
}

// TestRetryAfter: the client waits as long as the header Retry-After asks, unless this exceeds the context's deadline.
func TestRetryAfter(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": "1"})
	server, url := gitserver.Serve(t, repo)
	busy := func(after string) {
		server.Fail(gitserver.Fault{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {after}}})
	}
	busy(time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
	busy("7")
	busy("0")
	var waited waits
	if err := readAll(t.Context(), open(t, url, nil, waited.option()), head); err != nil {
		t.Fatal(err)
	}
	if len(waited) != 3 || waited[0] != 0 || waited[1] != 7*time.Second || (time.Hour-waited[2]).Abs() > time.Minute {
		t.Errorf("waited %v", waited)
	}

	busy("600")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	start := time.Now()
	err := readAll(ctx, open(t, url, nil), head)
	is(t, err, gitremote.ErrRateLimited)
	if !strings.Contains(err.Error(), "10m0s") || time.Since(start) > 30*time.Second {
		t.Errorf("after %s: %v", time.Since(start), err)
	}
}

// TestHeaderTimeout: a server that accepts a request or a connection and does not answer counts as unreachable.
func TestHeaderTimeout(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": "1"})
	server, url := gitserver.Serve(t, repo)
	patience := gitremote.WithHeaderTimeout(2 * time.Second)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		server.Fail(gitserver.Fault{Method: method, Hang: true})
		err := readAll(t.Context(), open(t, url, nil, patience), head)
		is(t, err, gitremote.ErrUnreachable)
		if !strings.Contains(err.Error(), "did not begin to answer") {
			t.Error(err)
		}
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }() // it listens, but accepts no connection
	ssh := gitserver.NewSSH(t)
	known := strings.ReplaceAll(ssh.KnownHosts, ssh.Host[len("127.0.0.1:"):], silent.Addr().String()[len("127.0.0.1:"):])
	r := open(t, "ssh://"+silent.Addr().String()+repo, []gitremote.Credential{
		{URL: "ssh://" + silent.Addr().String(), PrivateKey: ssh.PrivateKey, KnownHosts: known},
	}, patience)
	is(t, readAll(t.Context(), r, head), gitremote.ErrUnreachable)
}

// TestMaxRefList: a list of references that exceeds the bound is an error. It is not read to its end.
func TestMaxRefList(t *testing.T) {
	repo := gitserver.InitBare(t)
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": "1"})
	var refs bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&refs, "create refs/heads/main-%04d %s\n", i, head)
	}
	list := filepath.Join(t.TempDir(), "refs")
	if err := os.WriteFile(list, refs.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	gitserver.Git(t, repo, "-c", "alias.create=!git update-ref --stdin <"+list, "create")
	for _, backend := range gitserver.Backends() {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			url, credentials := backend.Start(t, repo)
			r := open(t, url, credentials, gitremote.WithMaxRefList(16<<10))
			_, err := r.Ref(t.Context(), main)
			is(t, err, gitremote.ErrTooManyRefs)
			_, err = r.Writer(t.Context())
			is(t, err, gitremote.ErrTooManyRefs)
			if !strings.Contains(err.Error(), "hide references") {
				t.Errorf("the error does not say what to do: %v", err)
			}
			if at, err := open(t, url, credentials).Ref(t.Context(), main); err != nil || at.String() != head {
				t.Errorf("with the default bound: %s, %v", at, err)
			}
		})
	}
}

// TestEmptyAnswer: an empty answer is an error. It does not mean that the branch is absent.
func TestEmptyAnswer(t *testing.T) {
	repo, empty := gitserver.InitBare(t), gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"a": "1"})
	get := gitserver.Fault{
		Service: "git-upload-pack", Method: http.MethodGet, Times: -1, Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"application/x-git-upload-pack-advertisement"}},
	}
	post := gitserver.Fault{Service: "git-upload-pack", Method: http.MethodPost, Times: -1, Status: http.StatusOK}
	push := get
	push.Service = "git-receive-pack"
	push.Header = http.Header{"Content-Type": {"application/x-git-receive-pack-advertisement"}}
	saying := func(f gitserver.Fault, body string) gitserver.Fault { f.Body = []byte(body); return f }
	preamble := gitserver.Packet("# service=git-upload-pack\n") + "0000"
	noCapabilities := saying(get, gitserver.Packet("version 2\n")+"0000")
	denied := gitserver.Fault{Service: "git-receive-pack", Status: http.StatusForbidden, Times: -1}
	var waited waits
	for name, test := range map[string]struct {
		faults []gitserver.Fault
		want   error
	}{
		"empty answer":               {[]gitserver.Fault{get}, gitremote.ErrUnreachable},
		"nothing after the preamble": {[]gitserver.Fault{saying(get, preamble)}, gitremote.ErrUnreachable},
		"no list of references":      {[]gitserver.Fault{saying(get, preamble+"0000")}, gitremote.ErrEmptyAnswer},
		"no list for fetch and push": {[]gitserver.Fault{saying(get, "0000"), saying(push, "0000")},
			gitremote.ErrEmptyAnswer},
		"no capabilities":              {[]gitserver.Fault{noCapabilities, saying(post, "0000")}, gitremote.ErrEmptyAnswer},
		"empty answer to ls-refs":      {[]gitserver.Fault{post}, gitremote.ErrUnreachable},
		"no reference from ls-refs":    {[]gitserver.Fault{saying(post, "0000")}, gitremote.ErrEmptyAnswer},
		"no end of the ls-refs answer": {[]gitserver.Fault{saying(post, "0001")}, nil},
		"no reference, push denied":    {[]gitserver.Fault{saying(post, "0000"), denied}, gitremote.ErrEmptyAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			server, url := gitserver.Serve(t, repo)
			for _, f := range test.faults {
				server.Fail(f)
			}
			at, err := open(t, url, nil, waited.option()).Ref(t.Context(), main)
			if err == nil {
				t.Fatalf("the branch is at %s", at)
			}
			if test.want != nil {
				is(t, err, test.want)
			}
		})
	}
	ssh := gitserver.NewSSH(t)
	for output, want := range map[string]error{"": gitremote.ErrUnreachable, "0000": gitremote.ErrEmptyAnswer} {
		ssh.Fail(t, gitserver.SSHFault{Service: "git-upload-pack", Times: 4, Output: []byte(output)})
		_, err := open(t, ssh.URL(repo), sshCredential(ssh), waited.option()).Ref(t.Context(), main)
		is(t, err, want)
	}
	// Older servers send the same answer to a fetch from an empty repo. Only the answer to a push proves that it is empty.
	server, url := gitserver.Serve(t, empty)
	server.Fail(saying(get, preamble+"0000"))
	at, err := open(t, url, nil).Ref(t.Context(), main)
	if diff := cmp.Diff(plumbing.ZeroHash, at); err != nil || diff != "" {
		t.Errorf("an empty repository: %s, %v", at, err)
	}
}

func sshCredential(s *gitserver.SSHServer) []gitremote.Credential {
	return []gitremote.Credential{{URL: "ssh://" + s.Host, PrivateKey: s.PrivateKey, KnownHosts: s.KnownHosts}}
}
