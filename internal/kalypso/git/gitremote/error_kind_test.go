package gitremote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// TestKindOf pins the texts of other programs and libraries by which we recognize the kind of an error.
func TestKindOf(t *testing.T) {
	for _, test := range []struct {
		err  error
		want error
	}{
		{textError("ssh: handshake failed: ssh: unable to authenticate, " +
			"attempted methods [none publickey], no supported methods remain"),
			ErrUnauthorized},
		{textError("remote: Permission to acme/gitops.git denied to somebody."), ErrUnauthorized},
		{textError("fatal: detected dubious ownership in repository at '/srv/git/gitops.git'"), ErrForeignOwner},
		{textError("fatal: unsafe repository ('/srv/git/gitops.git' is owned by someone else)"), ErrForeignOwner},
		{textError("ERROR: The key you are authenticating with has been marked as read only."), ErrUnauthorized},
		{textError("GitLab: You are not allowed to push code to this project."), ErrUnauthorized},
		{textError("fatal: '/srv/none.git' does not appear to be a git repository"), ErrRepoNotFound},
		{textError("ERROR: Repository not found."), ErrRepoNotFound},
		{textError("ERROR: The project you were looking for could not be found or you don't have permission to view it."),
			ErrRepoNotFound},
		{textError("upload-pack: not our ref 7c6d4b0e5a1c7b0c7d5a4e3f2b1a09f8e7d6c5b4"), ErrObjectNotServed},
		{textError("Server does not allow request for unadvertised object 7c6d"), ErrObjectNotServed},
		{textError("cannot lock ref 'refs/heads/main': is at 7c6d but expected 1a09"), ErrBranchMoved},
		{textError("cannot lock ref 'refs/heads/main': Unable to create '/srv/r.git/./refs/heads/main.lock': File exists."),
			ErrBranchLocked},
		{textError("LOCK_FAILURE"), ErrBranchLocked},
		{textError("fatal: write error: No space left on device"), ErrServerFull},
		{textError("error: unable to write file: Disk quota exceeded"), ErrServerFull},
		{textError("error: unable to write file: Permission denied: No space left on device"), ErrServerFull},
		{textError("failed to update ref"), ErrBranchMoved},
		{textError("incorrect old value provided"), ErrBranchMoved},
		{textError("reference already exists"), ErrBranchMoved},
		{textError("non-fast-forward"), ErrBranchMoved},
		{textError("remote: Gitea: Unauthorized: User: 2:me with Key: 3:k is not authorized to write to acme/gitops."),
			ErrUnauthorized},
		{textError("Your credentials lack one or more required privilege scopes."), ErrUnauthorized},
		{textError("TF401019: The Git repository with name or identifier gitops does not exist or you do not have " +
			"permissions for the operation you are attempting."), ErrRepoNotFound},
		{textError("TF200016: The following project does not exist: acme. Verify that the name of the project is correct."),
			ErrRepoNotFound},
		{textError("VS800075: The project with id 'acme' does not exist, or you do not have permission to access it."),
			ErrRepoNotFound},
		{textError("TF401035: The object '7c6d4b0e5a1c7b0c7d5a4e3f2b1a09f8e7d6c5b4' does not exist."), ErrObjectNotServed},
		{textError("TF401028: The pull request's source 'refs/heads/main' does not exist."), nil},
		{textError("GitLab: You are not allowed to push code to protected branches on this project."), ErrProtected},
		{&protocolError{"EOF"}, nil},
		{&statusError{text: "HTTP status 400 Bad Request: TF401019: no repository"}, ErrRepoNotFound},
		{textError("pre-receive hook declined"), nil},
		{textError("protected branch hook declined"), nil},
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, ErrUnreachable},
		{&net.DNSError{Err: "no such host"}, ErrUnreachable},
		{fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), ErrUnreachable},
		{fmt.Errorf("reading: %w", context.DeadlineExceeded), context.DeadlineExceeded},
	} {
		if got := kindOf(test.err); !errors.Is(got, test.want) {
			t.Errorf("%v: got %v, want %v", test.err, got, test.want)
		}
	}
}

// textError is an error with only a text, as other programs print it.
type textError string

func (s textError) Error() string { return string(s) }

// TestFindAuth pins which credential is used for which repo.
func TestFindAuth(t *testing.T) {
	for _, test := range []struct {
		urls []string
		repo string
		want string // the URL of the credential, in its normal form
	}{
		{[]string{"https://git.acme.io/acme"}, "https://git.acme.io/acme/gitops", "https://git.acme.io/acme"},
		{[]string{"https://git.acme.io/acme/"}, "https://git.acme.io/acme/gitops.git", "https://git.acme.io/acme/"},
		{[]string{"https://git.acme.io/acme"}, "https://git.acme.io/acme-evil/gitops", ""},
		{[]string{"https://git.acme.io/acme"}, "https://git.acme.io/acme/../evil/gitops", ""},
		{[]string{"https://git.acme.io/acme"}, "https://git.acme.io/evil//acme", ""},
		{[]string{"https://git.acme.io"}, "https://git.acme.io.evil.io/acme/gitops", ""},
		{[]string{"https://git.acme.io"}, "https://GIT.acme.io:443/acme/gitops", "https://git.acme.io"},
		{[]string{"https://git.acme.io:8443"}, "https://git.acme.io/acme/gitops", ""},
		{[]string{"https://git.acme.io"}, "http://git.acme.io/acme/gitops", ""},
		{[]string{"https://git.acme.io:8080"}, "http://git.acme.io:8080/acme/gitops", ""},
		{[]string{"ssh://git.acme.io:443"}, "https://git.acme.io/acme/gitops", ""},
		{[]string{"https://git.acme.io", "https://git.acme.io/acme", "https://git.acme.io/ac"}, "https://git.acme.io/acme/x",
			"https://git.acme.io/acme"},
		{[]string{"https://git.acme.io/acme/gitops"}, "https://git.acme.io/acme/gitops.git",
			"https://git.acme.io/acme/gitops"},
		{[]string{"https://git.acme.io/acme/gitops.git"}, "https://git.acme.io/acme/gitops",
			"https://git.acme.io/acme/gitops.git"},
		{[]string{"ssh://git.acme.io/acme"}, "git@git.acme.io:acme/gitops.git", "ssh://git.acme.io/acme"},
		{[]string{"git@git.acme.io:acme"}, "ssh://git@git.acme.io:22/acme/gitops.git", "ssh://git@git.acme.io/acme"},
		{[]string{"ssh://git.acme.io:2222"}, "git@git.acme.io:acme/gitops.git", ""},
		{nil, "https://github.com/acme/gitops", "https://github.com"},
		{[]string{"https://github.com"}, "https://github.com/acme/gitops", "https://github.com"},
		{nil, "https://github.com.evil.io/acme/gitops", ""},
		{nil, "http://github.com/acme/gitops", ""},
		{nil, "git@github.com:acme/gitops", ""},
		{[]string{"https://acme.visualstudio.com/p/_git/r", "https://dev.azure.com/acme/p/_git/r"},
			"https://dev.azure.com/Acme/p/_git/r", "https://dev.azure.com/acme/p/_git/r"},
		{[]string{"https://[2001:db8::1]/a"}, "https://[2001:DB8::1]:443/a/b", "https://[2001:db8::1]/a"},
	} {
		c := &Client{}
		for _, u := range test.urls {
			at, err := giturl.Parse(u)
			if err != nil {
				t.Fatalf("%s: %v", u, err)
			}
			c.credentials = append(c.credentials, &auth{at: at, login: Login{Password: "configured"}})
		}
		c.credentials = append(c.credentials, githubToken("token"))
		repo, err := giturl.Parse(test.repo)
		if err != nil {
			t.Fatalf("%s: %v", test.repo, err)
		}
		got, password := "", ""
		if s := c.findAuth(repo); s != nil {
			got, password = s.at.String(), s.login.Password
		}
		if got != test.want {
			t.Errorf("%v for %s: got %q, want %q", test.urls, test.repo, got, test.want)
		}
		if (password == "token") != (test.urls == nil && got != "") {
			t.Errorf("%v for %s: got the %s password", test.urls, test.repo, password)
		}
	}
}
