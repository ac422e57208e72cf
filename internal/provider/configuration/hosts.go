package configuration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
)

// AppendDeliveryError reports an error of reading or writing a destination, or of its host.
func AppendDeliveryError(diags *diag.Diagnostics, at destination.Destination, err error) {
	AppendRemoteError(diags, path.Root("gitops_repo"), err, func(err error) problem.Problem {
		return report.Error(at, err)
	})
}

// AppendRemoteError reports an error of a repo, or several: of a host's settings, of its API at the argument repo, and
// any other as the problem that problemOf returns.
func AppendRemoteError(
	diags *diag.Diagnostics, repo path.Path, err error, problemOf func(error) problem.Problem,
) {
	var host *githost.Error
	var all problem.Errors
	switch {
	case errors.As(err, &all):
		for _, one := range all {
			AppendRemoteError(diags, repo, one, problemOf)
		}
	case AppendHostSettingsError(diags, err):
	case errors.As(err, &host):
		AppendHostError(diags, repo, err)
	default:
		tfvalue.AppendProblems(diags, problem.Problems{problemOf(err)})
	}
}

// userAgent is the provider's name in requests to hosts.
const userAgent = "terraform-provider-kalypso"

// hostSettings configures one host of repos.
type hostSettings struct {
	name, block   string // see [githost.Traits]
	noun          string // what the host calls a pull request
	credential    string // names where users configure the credential
	source        string // names the argument of the credential
	hasCredential bool
	organizations []string // of Azure DevOps, which alone get the credential; empty: all repos of the host get it
	unknown       bool     // a value in the block is not known yet
	// server is base_url. If base_url is empty, the public server is used.
	server, public string
	// certificates are for the server, with the API and with Git.
	certificates certificates
	token        string
	// create creates the host, without another credential than the token if it is anonymous. It contacts no server.
	create func(access httpapi.Access, anonymous bool) (githost.Host, error)
	// anonymous is the host without the credential; nil: it can't be created.
	anonymous githost.Host
}

// readBlock reads the arguments that the blocks of all hosts have, and returns the block if it is set. example is a
// valid base_url, for errors.
func (h *hostSettings) readBlock(d tfvalue.Decoder, example string) (given tfvalue.Decoder, ok bool) {
	given, ok = d.Object(h.block)
	if ok {
		h.token, h.server = given.String("token"), given.String("base_url")
		checkBaseURL(given, h.server, example)
		h.certificates = readCertificates(given, h.server)
	}
	return given, ok
}

// open creates the host, without the credential if it is anonymous. It contacts no server.
func (h hostSettings) open(anonymous bool, secrets *redact.Secrets) (githost.Host, error) {
	access := httpapi.Access{
		Credential: h.credential, BaseURL: h.server, UserAgent: userAgent, Secrets: secrets, OnRetry: logWait,
		Certificates: h.certificates.config,
	}
	if !anonymous {
		access.Token = h.token
	}
	return h.create(access, anonymous)
}

// readHosts reads the hosts. The public servers are always hosts, without a block. entra signs in to Azure DevOps; nil:
// without Entra.
func readHosts(d tfvalue.Decoder, entra *entraLogins) []hostSettings {
	hosts := append([]hostSettings{readGitHub(d), readGitLab(d), readAzureDevOps(d, entra)}, readGitea(d)...)
	blocks := map[string][]string{}
	for i, h := range hosts {
		hosts[i].unknown = !d.Known(h.block)
		if unknown.Is(h.server) {
			continue
		}
		blocks[h.address()] = append(blocks[h.address()], h.block)
		hosts[i].anonymous, _ = h.open(true, nil) // Hosting reports the error
	}
	for _, h := range hosts {
		if same := blocks[h.address()]; len(same) > 1 && !unknown.Is(h.server) {
			d.Report("Conflicting hosts", strings.Join(same, " and ")+" have the same server. The server of a repo's "+
				"URL chooses the host. Remove one of the blocks, or change its base_url.", problem.Attr(h.block))
		}
	}
	return hosts
}

// address returns the server's address in a form that is equal for all URLs of the server, with or without its API.
func (h hostSettings) address() string {
	server := strings.TrimRight(cmp.Or(h.server, h.public), "/")
	for _, api := range []string{"/api/v1", "/api/v3", "/api/v4"} {
		server = strings.TrimRight(strings.TrimSuffix(server, api), "/")
	}
	return giturl.AddressKey(server)
}

// hostSettingsError means that the settings in a block are not enough to create the host.
type hostSettingsError struct {
	name, block string
	err         error
}

func (e *hostSettingsError) Error() string {
	return "in " + e.block + " of provider kalypso: " + e.err.Error()
}

func (e *hostSettingsError) Unwrap() error { return e.err }

// AppendHostSettingsError reports a *hostSettingsError, and returns whether the error is one.
func AppendHostSettingsError(diags *diag.Diagnostics, err error) bool {
	var e *hostSettingsError
	if !errors.As(err, &e) {
		return false
	}
	diags.AddError(e.name+" can't be used", problem.Sentence(err))
	return true
}

// setHosts sets the hosts, which are created once they are needed.
func (d *Data) setHosts(all []hostSettings) {
	d.hosts = all
	d.Hosting = sync.OnceValues(func() (githost.Host, error) {
		var hosts githost.Hosts
		for _, settings := range all {
			host, err := settings.open(false, &d.secrets)
			if err != nil {
				return nil, &hostSettingsError{settings.name, settings.block, err}
			}
			hosts = append(hosts, host)
		}
		return hosts, nil
	})
}

// hostOf returns the settings of the host of a repo, or nil if it is on none.
func (d *Data) hostOf(repo string) *hostSettings {
	if d == nil || unknown.Is(repo) {
		return nil
	}
	i := slices.IndexFunc(d.hosts, func(h hostSettings) bool {
		if h.anonymous == nil {
			return false
		}
		_, err := h.anonymous.Repo(repo)
		return err == nil
	})
	if i < 0 {
		return nil
	}
	return &d.hosts[i]
}

// HasCredential reports whether there is a credential for the host of any of these repos.
func (d *Data) HasCredential(repos ...string) bool {
	return slices.ContainsFunc(repos, func(repo string) bool {
		host := d.hostOf(repo)
		return host != nil && host.hasCredential && host.whyWithheld(repo) == ""
	})
}

// Review returns the settings for the description of a change: the links to the configured hosts. It contacts no
// server. d is nil before the provider is configured.
func (d *Data) Review(repo string, detail delivery.Detail) delivery.Review {
	if d == nil || slices.ContainsFunc(d.hosts, func(h hostSettings) bool { return unknown.Is(h.server) }) {
		return delivery.Review{Detail: detail, Known: inventory.Partial}
	}
	var hosts githost.Hosts
	for _, h := range d.hosts {
		if h.anonymous != nil { // otherwise without links
			hosts = append(hosts, h.anonymous)
		}
	}
	return delivery.NewReview(hosts, repo, detail)
}

// gitLogin returns the login for Git over HTTPS with a repo that no git_credentials serve: a token of Entra on Azure
// Repos, or the credential of the host's API. It is zero for any other repo.
func (d *Data) gitLogin(ctx context.Context, repo string, refused gitremote.Login) (gitremote.Login, error) {
	if d.entra.serves(repo) {
		return d.entra.login(ctx, refused)
	}
	hosts, err := d.Hosting()
	if err != nil {
		return gitremote.Login{}, err
	}
	settings := d.hostOf(repo)
	switch {
	case settings == nil:
		return gitremote.Login{}, nil // another host
	case settings.block == azureDevOpsBlock && d.entra != nil: // a server of one's own
		return d.entra.login(ctx, refused)
	}
	hosted, err := hosts.Repo(repo)
	if err != nil {
		return gitremote.Login{}, err
	}
	login := gitremote.Login{Source: "the provider's " + settings.block + " " + settings.source}
	login.Username, login.Password, login.Bearer, err = hosted.GitCredential(ctx)
	if err == nil && login.IsZero() {
		return gitremote.Login{}, nil
	}
	return login, err
}

// gitCertificates returns the certificates in the block of a repo's host. Git uses them if git_credentials has none for
// the repo.
func (d *Data) gitCertificates(repo string) *servertls.Config {
	if settings := d.hostOf(repo); settings != nil {
		return settings.certificates.config
	}
	return nil
}

func logWait(ctx context.Context, reason error, wait time.Duration) {
	tflog.Info(ctx,
		"waiting before asking the host again", map[string]any{"reason": reason.Error(), "seconds": wait.Seconds()})
}

// HostFor returns the host, or nil after it reported an error.
func (d *Data) HostFor(diags *diag.Diagnostics) githost.Host {
	host, err := d.Hosting()
	if err != nil {
		AppendHostSettingsError(diags, err)
		return nil
	}
	return host
}

// HostedRepo returns the repo that a URL names on the host, or nil after it reported an error at the argument.
func (d *Data) HostedRepo(url string, at path.Path, diags *diag.Diagnostics) *githost.Repo {
	host := d.HostFor(diags)
	if host == nil {
		return nil
	}
	repo, err := host.Repo(url)
	if err != nil {
		AppendHostError(diags, at, err)
		return nil
	}
	return &repo
}

// CheckCredential reports a missing credential for a repo's host: without a credential, no host opens a pull request.
// If the repo is on no host, another check reports it.
func (d *Data) CheckCredential(repo string, diags *diag.Diagnostics) {
	host := d.hostOf(repo)
	if host == nil {
		return
	}
	why := fmt.Sprintf("the provider has no %s for %s", strings.Replace(host.source, " or ", " and no ", 1), host.name)
	if host.hasCredential {
		why = host.whyWithheld(repo)
		if why == "" {
			return
		}
	}
	diags.AddAttributeError(path.Root("delivery"), "No credential for "+host.name, fmt.Sprintf(
		"The strategy pull_request opens a %s, but %s. Set %s.", host.noun, why, host.credential))
}

// TranslatePullRequest replaces "pull request" in the diagnostics of a resource by the word of the host of its repo,
// such as "merge request".
func (d *Data) TranslatePullRequest(repo string, diags *diag.Diagnostics) {
	host := d.hostOf(repo)
	if host == nil || host.noun == pullRequestNoun {
		return
	}
	capital := func(noun string) string { return strings.ToUpper(noun[:1]) + noun[1:] }
	words := strings.NewReplacer(pullRequestNoun, host.noun, capital(pullRequestNoun), capital(host.noun))
	for i, one := range *diags {
		(*diags)[i] = tfvalue.Restate(one, one.Severity(), words.Replace(one.Summary()), words.Replace(one.Detail()))
	}
}

// pullRequestNoun is the word of most hosts. Diagnostics are written with it.
const pullRequestNoun = "pull request"

// AppendHostError turns an error of a host into a diagnostic: what happened, how to fix it, and the host's message. It
// has the path of the argument that the host refuses, else of the argument with the repo.
func AppendHostError(diags *diag.Diagnostics, repo path.Path, err error) {
	var e githost.Error
	if as := (*githost.Error)(nil); errors.As(err, &as) {
		e = *as
	}
	name := cmp.Or(e.Host, "The host")
	block := cmp.Or(e.Block, "the host's block") + " of the provider"
	credential, attribute := "Check "+cmp.Or(e.Credential, "the credential in "+block)+".", ""
	if e.Field != "" {
		repo = path.Root("delivery") // Terraform names the resource's attribute alone
		attribute = "\n\nAttribute: " + repo.AtName(string(e.Field)).String()
	}
	say := func(summary, advice string) {
		diags.AddAttributeError(repo, summary, strings.TrimSpace(problem.Sentence(err)+" "+advice)+attribute)
	}
	switch {
	case errors.Is(err, githost.ErrOtherHost):
		say("Repo is on no configured host", "Check the repo's URL, and base_url in "+block+".")
	case errors.Is(err, githost.ErrUnauthenticated):
		say(name+" does not accept the credential", strings.TrimSpace(credential+" "+printable.Line(e.Grant)))
	case errors.Is(err, githost.ErrForbidden):
		say(name+" denies the request", printable.Line(cmp.Or(e.Grant, "Grant the credential the permission in the repo.")))
	case errors.Is(err, githost.ErrNotVisible):
		say("Repo not found, or not visible",
			name+" gives the same answer for both. Check the repo's URL, and whether the token or app may use the repo. "+
				credential)
	case errors.Is(err, githost.ErrCommitOnNoBranch):
		say("Commit not found, or on no branch", "Check the hash, and whether the commit was pushed to a branch.")
	case errors.Is(err, githost.ErrCommitNotFound):
		say("Commit not found", "Check the hash, and whether the commit was pushed.")
	case errors.Is(err, githost.ErrBranchNotFound), errors.Is(err, githost.ErrNothingToMerge):
		say(name+" has not seen the push yet", "Apply again: the next apply continues from what was pushed.")
	case errors.Is(err, githost.ErrExists): // the error names the owner, and what to do
		diags.AddAttributeError(repo, "The branch has another pull request", problem.Sentence(err))
	case errors.Is(err, githost.ErrRateLimited):
		say(name+"'s rate limit", "Apply again later, or raise timeouts.")
	case errors.Is(err, githost.ErrUnavailable):
		advice := "Check base_url in " + block + ", the network and the server, and try again."
		if certificate := servertls.Advice(err); certificate != "" {
			advice = strings.ToUpper(certificate[:1]) + certificate[1:] + " in " + block + "."
		}
		say(name+" can't be reached", advice)
	case errors.Is(err, githost.ErrRejected) && e.Field == githost.FieldReviewers && e.Status == 0:
		say("Cannot request reviewers", "")
	case errors.Is(err, githost.ErrRejected):
		say(name+" refused", "Fix the problem that "+name+" reports, and apply again: the next apply continues where this "+
			"one stopped.")
	default:
		say("Repo can't be used", "Check the repo's URL.")
	}
}
