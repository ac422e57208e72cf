package provider

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// hostOnce creates the host once. All resources share it and its tokens.
type hostOnce struct {
	once sync.Once
	host hosting.Host
	err  error
}

var errGitHubSettings = errors.New("in github of provider kalypso")

// hosting returns the host that the provider is configured for. The configuration must be known.
func (d *providerData) hosting() (hosting.Host, error) {
	d.host.once.Do(func() {
		d.host.host, d.host.err = newHost(d.github, &d.secrets)
		if d.host.err != nil {
			d.host.err = fmt.Errorf("%w: %w", errGitHubSettings, d.host.err)
		}
	})
	return d.host.host, d.host.err
}

// review returns how a change of a repo is described: with links to the configured host. It contacts no server. d is
// nil before the provider is configured.
func (d *providerData) review(repo string, detail delivery.Detail) delivery.Review {
	if d == nil || unknown.Is(d.github.BaseURL) {
		return delivery.Review{Detail: detail, Incomplete: true}
	}
	host, err := newHost(githubSettings{BaseURL: d.github.BaseURL}, nil)
	if err != nil {
		host = nil // without links
	}
	return delivery.NewReview(host, repo, detail)
}

// hostPassword returns user name and password for a repo on the host, from the credential of its API. Both are empty
// for any other repo.
func (d *providerData) hostPassword(ctx context.Context, repo string) (username, password string, err error) {
	host, err := d.hosting()
	if err != nil {
		return "", "", err
	}
	hosted, err := host.Repo(repo)
	if err != nil {
		return "", "", nil //nolint:nilerr // another host
	}
	return hosted.GitPassword(ctx)
}

// newHost creates the host of repos.
func newHost(g githubSettings, secrets *redact.Secrets) (hosting.Host, error) {
	c := github.Config{
		Token: g.Token, Credential: g.credential(), BaseURL: g.BaseURL, UserAgent: "terraform-provider-kalypso",
		Secrets: secrets, OnRetry: logWait,
	}
	if g.App != nil {
		c.App = &github.App{ID: g.App.ID, InstallationID: g.App.InstallationID, PrivateKey: g.App.PrivateKey}
	}
	return github.New(c)
}

func logWait(ctx context.Context, reason error, wait time.Duration) {
	tflog.Info(ctx,
		"waiting before asking GitHub again", map[string]any{"reason": reason.Error(), "seconds": wait.Seconds()})
}

// hostFor returns the host, or nil after it reported an error.
func (d *providerData) hostFor(diags *diag.Diagnostics) hosting.Host {
	host, err := d.hosting()
	if err != nil {
		diags.AddError("GitHub can't be used", problem.Sentence(err))
		return nil
	}
	return host
}

// hostedRepo returns the repo that a URL names on the host, or nil after it reported an error at the argument.
func (d *providerData) hostedRepo(url string, at path.Path, diags *diag.Diagnostics) hosting.Repo {
	host := d.hostFor(diags)
	if host == nil {
		return nil
	}
	repo, err := host.Repo(url)
	if err != nil {
		appendHostError(diags, at, err)
		return nil
	}
	return repo
}

// checkGitHubCredential reports a missing credential: without one, GitHub opens no pull request.
func (d *providerData) checkGitHubCredential(diags *diag.Diagnostics) {
	if d.github.Token != "" || d.github.App != nil {
		return
	}
	diags.AddAttributeError(path.Root("delivery"), "No credential for GitHub",
		"The strategy pull_request opens a pull request, but the provider has neither token nor app for GitHub. "+
			"Set "+d.github.credential()+".")
}

// appendHostError turns an error of a host into a diagnostic: what happened, how to fix it, and the host's message.
// It is shown on the argument that the host refuses, else on that of the repo.
func appendHostError(diags *diag.Diagnostics, repo path.Path, err error) {
	credential, attribute := "Check token or app in github of the provider.", ""
	var e *hosting.Error
	if errors.As(err, &e) {
		if e.Credential != "" {
			credential = "Check " + e.Credential + "."
		}
		if e.Field != "" {
			repo = path.Root("delivery") // Terraform names the resource's attribute alone
			attribute = "\n\nAttribute: " + repo.AtName(string(e.Field)).String()
		}
	}
	say := func(summary, advice string) {
		diags.AddAttributeError(repo, summary, problem.Sentence(err)+" "+advice+attribute)
	}
	switch {
	case errors.Is(err, hosting.ErrOtherHost):
		say("Repo is not on the GitHub server",
			"Check the repo's URL, and base_url in github of the provider. The default server is github.com.")
	case errors.Is(err, hosting.ErrUnauthenticated):
		say("GitHub does not accept the credential", credential)
	case errors.Is(err, hosting.ErrForbidden):
		permission := "this permission"
		if e != nil && e.Permission != "" {
			permission = "the permission " + printable.Line(e.Permission)
		}
		say("GitHub denies the request", "Grant the token or app "+permission+" in the repo. A classic token needs the "+
			"scope repo.")
	case errors.Is(err, hosting.ErrNotVisible):
		say("Repo not found, or not visible",
			"GitHub gives the same answer for both. Check the repo's URL, and that the token or app may use the "+
				"repo. "+credential)
	case errors.Is(err, hosting.ErrCommitNotFound):
		say("Commit not found", "Check the hash, and that the commit was pushed.")
	case errors.Is(err, hosting.ErrBranchNotFound), errors.Is(err, hosting.ErrNothingToMerge):
		say("GitHub has not seen the push yet", "Apply again: the next apply continues from what was pushed.")
	case errors.Is(err, hosting.ErrExists): // whose it is, and what to do, is in the error
		diags.AddAttributeError(repo, "The branch has another pull request", problem.Sentence(err))
	case errors.Is(err, hosting.ErrRateLimited):
		say("GitHub's rate limit", "Apply again later, or raise timeouts.")
	case errors.Is(err, hosting.ErrUnavailable):
		say("GitHub can't be reached", "Check base_url in github of the provider, the network and the server, and try again.")
	case errors.Is(err, hosting.ErrRejected):
		say("GitHub refused", "Fix what GitHub names, and apply again: the next apply continues from what is done.")
	default:
		say("Repo can't be used", "Check the repo's URL.")
	}
}
