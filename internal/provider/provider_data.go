package provider

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// githubTokenVariable names the environment variable with the token for github.com if none is configured.
const githubTokenVariable = "GITHUB_TOKEN"

// providerData contains the provider's configuration for resources and data sources.
type providerData struct {
	known  bool              // the credentials are known; otherwise nothing may be contacted
	Client *gitremote.Client // nil unless known
	// sources reads control planes and workloads, for all data sources of a run.
	sources *source.Reader
	// allowLocal lets registrations name repos of this machine.
	allowLocal bool
	author     gitops.Author // without a time
	now        func() time.Time
	hosts      []hostSettings
	host       hostOnce
	clusters   clusterSettings
	azure      azureSettings
	// postgresURL is [unknown.Text] if it is unknown, "" if it is not set.
	postgresURL string
	entra       *entraLogins // nil: none
	// secrets are redacted from all server messages.
	secrets redact.Secrets
	claims  delivery.Claims
	// configClaims contains what the other resources manage.
	configClaims configClaims
	// lastPlan contains the rendering that was planned last, for the following apply.
	lastPlan lastPlan
}

// committer returns the author of a commit that is made now, with trailers beside the provider's.
func (d *providerData) committer(trailers map[string]string) gitops.Author {
	author := d.author
	author.When, author.Trailers = d.now(), gitops.MergeTrailers(author.Trailers, trailers)
	return author
}

var defaultAuthor = gitops.Author{Name: "Kalypso", Email: "kalypso@localhost"}

// readProviderData reads the provider's configuration. It reports errors on their attributes, without the values.
func readProviderData(v attr.Value, now func() time.Time, diags *diag.Diagnostics) *providerData {
	var ps problem.Problems
	d := newDecoder(v, &ps)
	data := &providerData{author: readAuthor(d, now()), now: now}
	credentials := readCredentials(d)
	mirrors, mirrorsKnown := readMirrors(d)
	var allowLocalKnown bool
	data.allowLocal, allowLocalKnown = d.bool("allow_local_repos")
	data.clusters, data.azure, data.postgresURL = readClusters(d), readAzure(d), readPostgres(d)
	entra, entraKnown := readEntra(d, data.azure)
	if entra && entraKnown {
		data.entra = newEntraLogins(data.azure.Config, now, &data.secrets)
	}
	data.hosts = readHosts(d, data.entra)
	data.known = allowLocalKnown && mirrorsKnown && entraKnown &&
		!slices.ContainsFunc(data.hosts, func(h hostSettings) bool { return h.unknown })
	for _, c := range credentials {
		data.known = data.known && !credentialUnknown(c)
	}
	appendProblems(diags, ps)
	data.sources = source.NewReader(nil, source.DefaultLimits)
	if !data.known {
		return data
	}
	client, err := gitremote.NewClient(credentials, gitremote.WithGitHubToken(os.Getenv(githubTokenVariable)),
		gitremote.WithLoginFunc(data.gitLogin), gitremote.WithSecrets(&data.secrets), gitremote.WithMirrors(mirrors))
	appendCredentialErrors(diags, err)
	data.Client = client
	data.sources = source.NewReader(client, source.DefaultLimits)
	return data
}

func readAuthor(d decoder, now time.Time) gitops.Author {
	author := defaultAuthor
	author.Signer = readSigner(d, now)
	author.Trailers = d.stringMap("commit_trailers")
	*d.problems = append(*d.problems, delivery.ValidateTrailers(author.Trailers)...)
	given, ok := d.object("commit_author")
	if !ok {
		return author
	}
	for attribute, field := range map[string]*string{"name": &author.Name, "email": &author.Email} {
		value := given.string(attribute)
		if value == "" {
			continue
		}
		if err := gitops.CheckAuthor(value); err != nil && !unknown.Is(value) {
			given.report("Invalid commit author", problem.Sentence(err), problem.Attr(attribute))
		}
		*field = value
	}
	return author
}

func readCredentials(d decoder) []gitremote.Credential {
	var credentials []gitremote.Credential
	for _, c := range d.objects("git_credentials") {
		credentials = append(credentials, gitremote.Credential{
			URL:                  c.string(string(gitremote.FieldURL)),
			Username:             c.string(string(gitremote.FieldUsername)),
			Password:             c.string(string(gitremote.FieldPassword)),
			BearerToken:          c.string(string(gitremote.FieldBearerToken)),
			PrivateKey:           c.string(string(gitremote.FieldPrivateKey)),
			PrivateKeyPassphrase: c.string(string(gitremote.FieldPrivateKeyPassphrase)),
			KnownHosts:           c.string(string(gitremote.FieldKnownHosts)),
			CACertificate:        c.string(string(gitremote.FieldCACertificate)),
		})
	}
	return credentials
}

// readMirrors reads the argument git_mirrors, and reports whether all of it is known.
func readMirrors(d decoder) (mirrors gitremote.Mirrors, known bool) {
	urls := d.stringMap("git_mirrors")
	for prefix, url := range urls {
		if anyUnknown(prefix, url) {
			return nil, false
		}
	}
	mirrors, err := gitremote.ParseMirrors(urls)
	var all gitremote.MirrorErrors
	if errors.As(err, &all) {
		for _, e := range all { // the path has no key, which may be a URL with a password
			d.report("Invalid mirror", problem.Sentence(e), problem.Attr("git_mirrors"))
		}
	}
	return mirrors, true
}

func credentialUnknown(c gitremote.Credential) bool {
	return anyUnknown(
		c.URL,
		c.Username,
		c.Password,
		c.BearerToken,
		c.PrivateKey,
		c.PrivateKeyPassphrase,
		c.KnownHosts,
		c.CACertificate,
	)
}

// anyUnknown reports whether any of these texts is [unknown.Text].
func anyUnknown(all ...string) bool {
	for _, s := range all {
		if unknown.Is(s) {
			return true
		}
	}
	return false
}

// appendCredentialErrors reports each error on its attribute.
func appendCredentialErrors(diags *diag.Diagnostics, err error) {
	var all gitremote.CredentialErrors
	switch {
	case err == nil:
	case errors.As(err, &all):
		for _, e := range all {
			appendProblems(diags, problem.Problems{{
				Summary: "Invalid credential",
				Detail:  string(e.Field) + ": " + e.Reason + ".",
				Path:    []problem.Step{problem.Attr("git_credentials"), problem.Index(e.Index), problem.Attr(string(e.Field))},
				Err:     e,
			}})
		}
	default:
		diags.AddAttributeError(path.Root("git_credentials"), "Invalid credentials", err.Error())
	}
}

// providerDataOf returns the provider's data in Configure, or nil before the provider is configured.
func providerDataOf(given any, diags *diag.Diagnostics) *providerData {
	if given == nil {
		return nil
	}
	data, ok := given.(*providerData)
	if !ok {
		diags.AddError("Unexpected provider data", fmt.Sprintf("It is a %T. This is a bug in the provider.", given))
	}
	return data
}

// checkListable reports that a list reads repos, and the provider's credentials are not known yet.
func (d *providerData) checkListable(diags *diag.Diagnostics) {
	if d == nil || !d.known {
		diags.AddError("Provider configuration not known yet",
			"A list reads repos, and the provider's credentials are known after apply.")
	}
}
