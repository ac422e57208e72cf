package giturl

import "strings"

// Key returns the same string for all URLs of one repository by the same scheme, regardless of the user and a trailing
// ".git". For a repository on Azure DevOps Services, the host and the case of letters do not matter either.
func (u URL) Key() string {
	if repo, ok := u.AzureRepo(); ok {
		u.Host, u.Path = azureHost, repo.path()
	}
	return u.AddressKey()
}

// AddressKey returns the same string for all URLs that lead to one path of one server, regardless of the user and a
// trailing ".git". Credentials and mirrors are chosen by this key. A repository on Azure DevOps Services has several
// such keys, since it has several hosts.
func (u URL) AddressKey() string {
	u.User = ""
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), ".git")
	return u.String()
}

// Key returns the [URL.Key] of a repository, or the text itself if it is not a URL.
func Key(repo string) string { return keyOf(repo, URL.Key) }

// AddressKey returns the [URL.AddressKey] of a repository, or the text itself if it is not a URL.
func AddressKey(repo string) string { return keyOf(repo, URL.AddressKey) }

func keyOf(repo string, key func(URL) string) string {
	at, err := Parse(repo)
	if err != nil {
		return repo
	}
	return key(at)
}

// Same reports whether two texts are URLs of one repository with the same scheme, so that a push to one URL changes
// what the other URL serves. Texts that are not URLs are the same if they are equal. Compare with
// [SameAcrossTransports].
func Same(a, b string) bool { return a == b || Key(a) == Key(b) }

// SameAcrossTransports reports whether two URLs refer to the same repository, as far as the URLs show it. Teams write
// one of the two URLs, so it ignores the transport, the user, upper and lower case, and a trailing ".git" or slash. A
// text that is not a URL is never the same.
func SameAcrossTransports(a, b string) bool {
	at, errA := Parse(a)
	other, errB := Parse(b)
	if errA != nil || errB != nil {
		return false
	}
	one, isAzure := at.AzureRepo()
	two, bothAzure := other.AzureRepo()
	if isAzure || bothAzure {
		return isAzure && bothAzure && one.path() == two.path()
	}
	// Different ports mean different servers only if the schemes are equal: one server has several ports, such as 443 and
	// 22.
	if at.Host != other.Host || at.Scheme == other.Scheme && at.Port != other.Port {
		return false
	}
	return at.foldedName() == other.foldedName() && at.IsLocal() == other.IsLocal()
}

// foldedName returns the name without its case, unless it is a path of this machine.
func (u URL) foldedName() string {
	if u.IsLocal() {
		return u.Name()
	}
	return strings.ToLower(u.Name())
}

// SameServer reports whether two URLs have the same scheme, host and port.
func (u URL) SameServer(other URL) bool {
	return u.Scheme == other.Scheme && u.Host == other.Host && u.Port == other.Port
}
