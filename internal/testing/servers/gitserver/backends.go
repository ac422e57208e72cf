package gitserver

import (
	"slices"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

// Backend is a way to access a repository.
type Backend struct {
	Name string
	// Start serves a bare repository, and returns its URL and credentials.
	Start func(t testing.TB, repo string) (url string, credentials []gitremote.Credential)
}

// Transports returns three backends for tests of code above Git's protocol, which are different for such code: a file,
// a server over HTTP with filters, and a server over SSH without filters. With -short, it leaves out SSH.
func Transports() []Backend {
	names := []string{"file", "http filter", "ssh"}
	if testing.Short() {
		names = names[:2]
	}
	return slices.DeleteFunc(Backends(), func(b Backend) bool { return !slices.Contains(names, b.Name) })
}

// Backends returns all ways to access a repository. The tests of gitremote use all of them; other tests use
// [Transports].
func Backends() []Backend {
	basic := WithBasic("kalypso", "canary-password")
	user := gitremote.Credential{Username: "kalypso", Password: "canary-password"}
	return []Backend{
		{"file", func(_ testing.TB, repo string) (string, []gitremote.Credential) { return "file://" + repo, nil }},
		{"path", func(_ testing.TB, repo string) (string, []gitremote.Credential) { return repo, nil }},
		overHTTP("http", gitremote.Credential{}),
		overHTTP("http filter", gitremote.Credential{}, WithFilter()),
		overHTTP("in process", gitremote.Credential{}, InProcess()),
		overHTTP("http v0", gitremote.Credential{}, WithProtocolV0()),
		overHTTP("http v0 filter", gitremote.Credential{}, WithProtocolV0(), WithFilter()),
		overHTTP("http basic", user, basic),
		overHTTP("http bearer", gitremote.Credential{BearerToken: "canary-bearer"}, WithBearer("canary-bearer"),
			WithFilter()),
		overHTTP("https private CA", user, WithTLS(), basic),
		{"ssh", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			s := NewSSH(t)
			return s.URL(repo), withKey(s.Host, s.PrivateKey, s.KnownHosts)
		}},
		{"ssh v0", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			s := newSSH(t)
			return s.URL(repo), withKey(s.Host, s.PrivateKey, s.KnownHosts)
		}},
		overHTTP("azure", user, Azure(), WithTLS(), basic),
		{"azure ssh", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			s, url := ServeAzureSSH(t, repo)
			return url, withKey(s.Host, s.PrivateKey, s.KnownHosts)
		}},
	}
}

// overHTTP is a server over HTTP that may require a credential.
func overHTTP(name string, with gitremote.Credential, options ...Option) Backend {
	return Backend{name, func(t testing.TB, repo string) (string, []gitremote.Credential) {
		s, url := Serve(t, repo, options...)
		if with == (gitremote.Credential{}) {
			return url, nil
		}
		c := with
		c.URL, c.CACertificate = s.URL, s.CA
		return url, []gitremote.Credential{c}
	}}
}

// withKey is the credential for a server over SSH.
func withKey(host, key, knownHosts string) []gitremote.Credential {
	return []gitremote.Credential{{URL: "ssh://" + host, PrivateKey: key, KnownHosts: knownHosts}}
}
