package giturl

import (
	"net/url"
	"regexp"
	"strings"
)

// The hosts of Azure DevOps Services. An organisation also has a host of its own, {organisation}.visualstudio.com.
const (
	azureHost     = "dev.azure.com"
	azureSSHHost  = "ssh.dev.azure.com"
	azureOldSSH   = "vs-ssh.visualstudio.com"
	azureOldHosts = ".visualstudio.com"
)

// AzureRepo names a repository of Azure DevOps Services, as a URL writes it. Azure ignores upper and lower case.
type AzureRepo struct{ Organization, Project, Repo string }

// IsAzure reports whether the server is one of Azure DevOps Services, which use only the default ports.
func (u URL) IsAzure() bool {
	switch {
	case u.Port != defaultPorts[u.Scheme]:
		return false
	case u.Scheme == SchemeSSH:
		return u.Host == azureSSHHost || u.Host == azureOldSSH
	}
	return u.Host == azureHost || u.azureOrganization() != ""
}

// azureOrganization returns acme for the host acme.visualstudio.com, and "" for other hosts.
func (u URL) azureOrganization() string {
	name, ok := strings.CutSuffix(u.Host, azureOldHosts)
	if !ok || strings.Contains(name, ".") {
		return ""
	}
	return name
}

// AzureRepo returns the repository of Azure DevOps Services that the URL names, in any form that Azure shows. ok is
// false for other URLs.
func (u URL) AzureRepo() (repo AzureRepo, ok bool) {
	names := u.Segments()
	switch {
	case !u.IsAzure() || len(names) == 0 || u.Ambiguous():
		return AzureRepo{}, false
	case u.Scheme == SchemeSSH:
		if len(names) != 4 || !strings.EqualFold(names[0], "v3") {
			return AzureRepo{}, false
		}
		return newAzureRepo(names[1], names[2], names[3]), true
	}
	organization := u.azureOrganization()
	switch {
	case organization == "":
		organization, names = names[0], names[1:]
	case strings.EqualFold(names[0], "DefaultCollection"):
		names = names[1:]
	}
	switch {
	case len(names) == 2 && strings.EqualFold(names[0], "_git"): // the project's first repository has its name
		return newAzureRepo(organization, strings.TrimSuffix(names[1], ".git"), names[1]), true
	case len(names) == 3 && strings.EqualFold(names[1], "_git"):
		return newAzureRepo(organization, names[0], names[2]), true
	}
	return AzureRepo{}, false
}

func newAzureRepo(organization, project, repo string) AzureRepo {
	return AzureRepo{Organization: organization, Project: project, Repo: strings.TrimSuffix(repo, ".git")}
}

// path returns the path of the repository below [azureHost], in lower case.
func (r AzureRepo) path() string {
	return strings.ToLower("/" + r.Organization + "/" + r.Project + "/_git/" + r.Repo)
}

// CommandPath returns the path for the command that SSH runs on the server. Azure expects the path escaped, with %20
// for a space, as in its own URLs.
func (u URL) CommandPath() string {
	if u.IsAzure() {
		return (&url.URL{Path: u.Path}).EscapedPath()
	}
	return u.Path
}

// unescapeAzure resolves the escapes in the path of Azure's short SSH form, such as
// git@ssh.dev.azure.com:v3/acme/My%20Project/gitops. Short forms of other servers are not escaped.
func (u URL) unescapeAzure() URL {
	if plain, err := url.PathUnescape(u.Path); err == nil && u.IsAzure() {
		u.Path = plain
	}
	return u
}

// escaped matches the characters that only some URLs of a repository escape.
var escaped = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// Fragment returns a text that occurs in all URLs of the repository, in upper or lower case. URLs of other repositories
// may contain it too.
func (u URL) Fragment() string {
	repo, ok := u.AzureRepo()
	if !ok {
		return u.Name()
	}
	longest := ""
	for _, part := range escaped.Split(repo.Repo, -1) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// azureUserError is the error for https://{organisation}@dev.azure.com/…, which Azure's Clone button shows. It is an
// [ErrPassword].
type azureUserError struct{ url string }

func (e *azureUserError) Error() string {
	return "the repository URL contains a user name; use " + e.url
}

func (e *azureUserError) Is(target error) bool { return target == ErrPassword }
