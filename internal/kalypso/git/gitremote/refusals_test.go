package gitremote

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// TestRefusals pins the messages with which each Git host refuses a push, and the error and its advice that follow.
func TestRefusals(t *testing.T) {
	const (
		pullRequest = `Set delivery.strategy = "pull_request"`
		right       = "Give the account of the credential the right to push"
		quota       = "raise its quota"
		maintenance = "after the maintenance"
		unsigned    = "Set commit_signing"
		hook        = "pre-receive hook declined"
	)
	for name, test := range map[string]struct {
		status string // status of the branch in the server's report
		output string // lines that the server prints
		want   error
		advice string // a part of the advice, if the error is a RejectedError
	}{
		"Azure Repos, protected": {
			status: "TF402455: Pushes to this branch are not permitted; you must use a pull request to update this branch.",
			want:   ErrProtected, advice: pullRequest,
		},
		"Azure Repos, race": {
			status: "TF401028: The reference 'refs/heads/main' has already been updated by another client, so you cannot " +
				"update it. Please try again.",
			want: ErrBranchMoved,
		},
		"Azure Repos, missing right": {
			status: "TF401027: You need the Git 'GenericContribute' permission to perform this action. Details: identity " +
				"'Build\\1', scope 'branch'.",
			want: ErrUnauthorized,
		},
		"Azure Repos, account without access": {
			status: "TF400813: The user 'aaaa' is not authorized to access this resource.", want: ErrUnauthorized,
		},
		"Azure Repos, rate limit": {
			status: "TF400733: The request has been canceled: Request was blocked due to exceeding usage of resource " +
				"'Concurrency' in namespace 'User'.",
			want: ErrRateLimited,
		},
		"GitHub, protected": {
			status: "protected branch hook declined",
			output: "error: GH006: Protected branch update failed for refs/heads/main.\n" +
				"error: Changes must be made through a pull request.",
			want: ErrProtected, advice: pullRequest,
		},
		"GitHub, ruleset": {
			status: "push declined due to repository rule violations",
			output: "error: GH013: Repository rule violations found for refs/heads/main.\n" +
				"- Changes must be made through a pull request.",
			want: ErrProtected, advice: pullRequest,
		},
		"GitHub, missing signature": {
			status: "protected branch hook declined",
			output: "error: GH006: Protected branch update failed.\nerror: Commits must have verified signatures.",
			want:   ErrRejected, advice: unsigned,
		},
		"GitHub, race": {status: "fetch first", want: ErrBranchMoved},
		"GitLab, protected": {
			status: hook, output: "GitLab: You are not allowed to push code to protected branches on this project.",
			want: ErrProtected, advice: pullRequest,
		},
		"GitLab, missing right": {
			status: hook, output: "GitLab: You are not allowed to push code to this project.",
			want: ErrRejected, advice: right,
		},
		"GitLab, quota": {
			status: hook, output: "GitLab: Your push has been rejected, because this repository has exceeded its size limit " +
				"of 10 GiB by 1 GiB. Please contact your GitLab administrator for more information.",
			want: ErrRejected, advice: quota,
		},
		"GitLab, maintenance": {
			status: hook, output: "GitLab: Git push is not allowed because this GitLab instance is currently in (read-only) " +
				"maintenance mode.",
			want: ErrRejected, advice: maintenance,
		},
		"Gitea, protected": {
			status: hook, output: "Gitea: Not allowed to push to protected branch main", want: ErrProtected, advice: pullRequest,
		},
		"Gitea, missing right": {
			status: hook, output: "Gitea: User permission denied for writing.", want: ErrRejected, advice: right,
		},
		"Gitea, missing signature": {
			status: hook, output: "Gitea: Branch main is protected from unverified commit 1a2b", want: ErrRejected,
			advice: unsigned,
		},
		"Gitea, race": {
			status: "failed to update ref", output: "error: cannot lock ref 'refs/heads/main'", want: ErrBranchMoved,
		},
		"Forgejo, quota": {status: hook, output: "Forgejo: Quota exceeded", want: ErrRejected, advice: quota},
		"Bitbucket Cloud, protected": {
			status: hook, output: "Permission denied to update branch main.", want: ErrProtected, advice: pullRequest,
		},
		"Bitbucket Cloud, quota": {
			status: hook, output: "Repository is over the size limit (4 GB) and will not accept further additions.",
			want: ErrRejected, advice: quota,
		},
		"Bitbucket Cloud, quota, older message": {
			status: hook, output: "repository is in read only mode (over 2 GB size limit).", want: ErrRejected, advice: quota,
		},
		"Bitbucket Cloud, pack too large": {
			status: "unpacker error", output: "fatal: pack exceeds maximum allowed size", want: ErrServerFull,
		},
		"Bitbucket Data Center, protected": {
			status: hook, output: "Branch refs/heads/main can only be modified through pull requests.\n" +
				"Check your branch permissions configuration with the project administrator.",
			want: ErrProtected, advice: pullRequest,
		},
		"Gerrit, missing right": {
			status: "prohibited by Gerrit: not permitted: update",
			output: "error: branch refs/heads/main:\nTo push into this reference you need 'Push' rights.\nUser: admin",
			want:   ErrUnauthorized,
		},
		"Gerrit, read-only project": {
			status: "prohibited by Gerrit: project state does not permit write", want: ErrUnauthorized,
		},
		"Gerrit, race":        {status: "failed to lock", want: ErrBranchMoved},
		"Gerrit, lock":        {status: "LOCK_FAILURE", want: ErrBranchLocked},
		"Gerrit, maintenance": {status: "Gerrit is under maintenance - all data is READ ONLY", want: ErrMaintenance},
		"hook with an unknown message": {
			status: hook, output: "no", want: ErrRejected, advice: "Check the branch's protection rules and the repo's hooks.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			report := packp.NewReportStatus()
			report.UnpackStatus = "ok"
			report.CommandStatuses = []*packp.CommandStatus{{ReferenceName: "refs/heads/main", Status: test.status}}
			var output []string
			if test.output != "" {
				output = strings.Split(test.output, "\n")
			}
			err := pushError(report, output)
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			for _, text := range append(output, test.status) {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("the error does not contain %q: %v", text, err)
				}
			}
			var rejected *RejectedError
			if errors.As(err, &rejected) != (test.advice != "") {
				t.Fatalf("got %T", err)
			}
			if rejected != nil && !strings.Contains(rejected.Advice(), test.advice) {
				t.Errorf("the advice is %q", rejected.Advice())
			}
			if protected := errors.Is(err, ErrProtected); protected != (test.advice == pullRequest) {
				t.Errorf("errors.Is(err, ErrProtected) is %t", protected)
			}
		})
	}
}

// TestHints: an error says what to do about a protected branch, a maintenance or a full server.
func TestHints(t *testing.T) {
	for kind, want := range map[error][2]string{
		ErrProtected:   {"", `set delivery.strategy = "pull_request"`},
		ErrMaintenance: {"Server in maintenance", "try again after the maintenance"},
		ErrServerFull:  {"No space left on the server", "raise the quota"},
	} {
		if got := Summary(kind); got != want[0] {
			t.Errorf("%v: the summary is %q", kind, got)
		}
		if got := (&Remote{client: &Client{}}).hint(kind, false); !strings.Contains(got, want[1]) {
			t.Errorf("%v: the hint is %q", kind, got)
		}
	}
}

// TestCredentialHints: a hint about a refused credential names only what that credential has.
func TestCredentialHints(t *testing.T) {
	t.Parallel()
	web, secure := giturl.URL{Scheme: "https", Host: "acme.io"}, giturl.URL{Scheme: "ssh", Host: "acme.io"}
	for name, test := range map[string]struct {
		at        giturl.URL
		with      *auth
		forbidden bool
		want      string
	}{
		"none":              {web, nil, false, "no credential matches it;"},
		"token":             {web, &auth{at: web, login: Login{Bearer: "t"}}, false, "was used, and may have expired;"},
		"token, forbidden":  {web, &auth{at: web, login: Login{Bearer: "t"}}, true, "was used;"},
		"certificate alone": {web, &auth{at: web}, false, "was used;"},
		"key":               {secure, &auth{at: secure, signer: signer(t)}, false, "the server may not know its key;"},
		"known_hosts alone": {secure, &auth{at: secure}, false, "was used;"},
	} {
		got := (&Remote{client: &Client{}, at: test.at, with: test.with}).hint(ErrUnauthorized, test.forbidden)
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: the hint is %q, want %q", name, got, test.want)
		}
	}
}

func signer(t *testing.T) ssh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}
