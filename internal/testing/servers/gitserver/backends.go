package gitserver

import (
	"slices"
	"testing"

	gitremote "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/remote"
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
	return []Backend{
		{"file", func(_ testing.TB, repo string) (string, []gitremote.Credential) { return "file://" + repo, nil }},
		{"path", func(_ testing.TB, repo string) (string, []gitremote.Credential) { return repo, nil }},
		{"http", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			_, url := Serve(t, repo)
			return url, nil
		}},
		{"http filter", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			_, url := Serve(t, repo, WithFilter())
			return url, nil
		}},
		{"in process", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			_, url := Serve(t, repo, InProcess())
			return url, nil
		}},
		{"http v0", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			_, url := Serve(t, repo, WithProtocolV0())
			return url, nil
		}},
		{"http v0 filter", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			_, url := Serve(t, repo, WithProtocolV0(), WithFilter())
			return url, nil
		}},
		{"http basic", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			s, url := Serve(t, repo, WithBasic("kalypso", "canary-password"))
			return url, []gitremote.Credential{{URL: s.URL, Username: "kalypso", Password: "canary-password"}}
		}},
		{"http bearer", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			s, url := Serve(t, repo, WithBearer("canary-bearer"), WithFilter())
			return url, []gitremote.Credential{{URL: s.URL, BearerToken: "canary-bearer"}}
		}},
		{"https private CA", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			s, url := Serve(t, repo, WithTLS(), WithBasic("kalypso", "canary-password"))
			return url, []gitremote.Credential{{URL: s.URL, Username: "kalypso", Password: "canary-password",
				CACertificate: s.CA}}
		}},
		{"ssh", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			s := NewSSH(t)
			return s.URL(repo), []gitremote.Credential{
				{URL: "ssh://" + s.Host, PrivateKey: s.PrivateKey, KnownHosts: s.KnownHosts}}
		}},
		{"ssh v0", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			s := NewSSH(t, WithoutGitProtocol())
			return s.URL(repo), []gitremote.Credential{
				{URL: "ssh://" + s.Host, PrivateKey: s.PrivateKey, KnownHosts: s.KnownHosts}}
		}},
		{"azure", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			s, url := Serve(t, repo, Azure(), WithTLS(), WithBasic("kalypso", "canary-password"))
			return url, []gitremote.Credential{{URL: s.URL, Username: "kalypso", Password: "canary-password",
				CACertificate: s.CA}}
		}},
		{"azure ssh", func(t testing.TB, repo string) (string, []gitremote.Credential) {
			s, url := ServeAzureSSH(t, repo)
			return url, []gitremote.Credential{
				{URL: "ssh://" + s.Host, PrivateKey: s.PrivateKey, KnownHosts: s.KnownHosts}}
		}},
	}
}
