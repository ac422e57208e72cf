package configuration

import (
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/azure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// githubTokenVariable names the environment variable with the token for github.com if none is configured.
const githubTokenVariable = "GITHUB_TOKEN"

// Data contains the provider's configuration for resources and data sources.
type Data struct {
	Version string            // of the provider
	Known   bool              // the credentials are known; otherwise nothing may be contacted
	Client  *gitremote.Client // nil unless known
	// Sources reads control planes and workloads, for all data sources of a run.
	Sources *source.Reader
	// AllowLocal lets registrations name repos of this machine.
	AllowLocal bool
	author     gitbranch.Author // without a time
	Now        func() time.Time
	// NewProofKey returns a new secret key for the private state of a rendering, see [delivery.ProofKey].
	NewProofKey func() string
	hosts       []hostSettings
	// Hosting returns the hosts that the provider is configured for. All resources share them and their tokens. The
	// configuration must be known.
	Hosting  func() (githost.Host, error)
	Clusters clusterSettings
	Azure    azureSettings
	// Registries accesses OCI registries; nil unless oci_credentials are known.
	Registries *registry.Client
	// postgresURL is [unknown.Text] if it is unknown, "" if it is not set.
	postgresURL string
	entra       *entraLogins // nil: none
	// secrets are redacted from all server messages.
	secrets redact.Secrets
	Claims  remote.Claims
	// configClaims contains the commit statuses and BaseRepos that the resources of this run manage: key → configClaim.
	configClaims sync.Map
	// LastPlans contains the last plan of each rendering, for the following apply.
	LastPlans LastPlans
}

// Committer returns the author of a commit that is made now, with trailers beside the provider's.
func (d *Data) Committer(trailers map[string]string) gitbranch.Author {
	author := d.author
	author.When, author.Trailers = d.Now(), gitbranch.MergeTrailers(author.Trailers, trailers)
	return author
}

var defaultAuthor = gitbranch.Author{Name: "Kalypso", Email: "kalypso@localhost"}

// Read reads the provider's configuration. It reports errors on their attributes, without the values.
func Read(v attr.Value, now func() time.Time, diags *diag.Diagnostics) *Data {
	var ps problem.Problems
	d := tfvalue.NewDecoder(v, &ps)
	data := &Data{author: readAuthor(d, now()), Now: now}
	credentials, mirrors := tfvalue.ListOf[gitremote.Credential](d, "git_credentials"), readMirrors(d)
	data.AllowLocal = d.True("allow_local_repos")
	data.Clusters, data.Azure, data.postgresURL = readClusters(d), readAzure(d), readPostgres(d)
	entra, entraKnown := readEntra(d, data.Azure)
	if entra && entraKnown {
		data.entra = &entraLogins{azure.NewTokenSource(data.Azure.Config, now, &data.secrets)}
	}
	data.setHosts(readHosts(d, data.entra))
	data.Registries = readRegistries(d, &data.secrets)
	data.Known = d.Known("git_credentials", "allow_local_repos", "git_mirrors") && entraKnown &&
		!slices.ContainsFunc(data.hosts, func(h hostSettings) bool { return h.unknown })
	tfvalue.AppendProblems(diags, ps)
	data.Sources = source.NewReader(nil, source.DefaultLimits)
	if !data.Known {
		return data
	}
	for _, h := range data.hosts {
		data.secrets.Add(h.certificates.texts.ClientKey)
	}
	client, err := gitremote.NewClient(credentials, func(s *gitremote.Settings) {
		s.GitHubToken, s.Mirrors, s.Secrets = os.Getenv(githubTokenVariable), mirrors, &data.secrets
		s.Login, s.TLS = data.gitLogin, data.gitCertificates
	})
	appendCredentialErrors(diags, err)
	data.Client = client
	data.Sources = source.NewReader(client, source.DefaultLimits)
	return data
}

func readAuthor(d tfvalue.Decoder, now time.Time) gitbranch.Author {
	author := defaultAuthor
	author.Signer = readSigner(d, now)
	author.Trailers = d.StringMap("commit_trailers")
	*d.Problems = append(*d.Problems, delivery.ValidateTrailers(author.Trailers)...)
	given, ok := d.Object("commit_author")
	if !ok {
		return author
	}
	for attribute, field := range map[string]*string{"name": &author.Name, "email": &author.Email} {
		value := given.String(attribute)
		if value == "" {
			continue
		}
		given.Check(attribute, "Invalid commit author", gitbranch.CheckAuthor)
		*field = value
	}
	return author
}

// readMirrors reads the argument git_mirrors, or returns nil if a part of it is not known yet.
func readMirrors(d tfvalue.Decoder) gitremote.Mirrors {
	urls := d.StringMap("git_mirrors")
	if unknown.Any(urls) {
		return nil
	}
	mirrors, errs := gitremote.ParseMirrors(urls)
	for _, err := range errs { // the path of the error leaves out the key, which may be a URL with a password
		d.Report("Invalid mirror", problem.Sentence(err), problem.Attr("git_mirrors"))
	}
	return mirrors
}

// AnyUnknown reports whether any of these texts is [unknown.Text].
func AnyUnknown(all ...string) bool { return slices.ContainsFunc(all, unknown.Is) }

// appendCredentialErrors reports each error on its attribute.
func appendCredentialErrors(diags *diag.Diagnostics, err error) {
	all, _ := errors.AsType[gitremote.CredentialErrors](err)
	for _, e := range all {
		tfvalue.AppendProblems(diags, problem.Problems{{
			Summary: "Invalid credential",
			Detail:  e.Field + ": " + e.Reason + ".",
			Path:    []problem.Step{problem.Attr("git_credentials"), problem.Index(e.Index), problem.Attr(e.Field)},
			Err:     e,
		}})
	}
}

// DataOf returns the provider's data in Configure, or nil before the provider is configured.
func DataOf(given any) *Data {
	data, _ := given.(*Data)
	return data
}

// CheckKnown reports whether the provider's configuration is known. If not, it adds an error with the detail.
func (d *Data) CheckKnown(detail string, diags *diag.Diagnostics) bool {
	if d != nil && d.Known {
		return true
	}
	diags.AddError("Provider configuration not known yet", detail)
	return false
}
