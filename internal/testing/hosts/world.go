package hosts

import (
	"net/http"
	"testing"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// world has the methods that the worlds of all hosts share.
type world struct {
	traffic *hostfake.Traffic
	url     string        // of the server
	clock   httpapi.Clock // nil: the machine's
	token   func(t testing.TB, as hostingtest.Credential) string
	open    func(httpapi.Access) (githost.Host, error)
}

// Host implements [hostingtest.World].
func (w *world) Host(t testing.TB, as hostingtest.Credential) githost.Host {
	t.Helper()
	return w.HostOver(t, as, nil)
}

// HostOver implements [hostingtest.World].
func (w *world) HostOver(t testing.TB, as hostingtest.Credential, transport http.RoundTripper) githost.Host {
	t.Helper()
	host, err := w.open(httpapi.Access{
		Token: w.token(t, as), BaseURL: w.url, Clock: w.clock, Credential: "token", Transport: transport,
	})
	if err != nil {
		t.Fatal(err)
	}
	return host
}

// Arguments implements [hostingtest.World].
func (w *world) Arguments(t testing.TB, as hostingtest.Credential) map[string]any {
	t.Helper()
	return map[string]any{"base_url": w.url, "token": w.token(t, as)}
}

// Requests implements [hostingtest.World].
func (w *world) Requests() int { return len(w.traffic.Requests()) }

// fakeWorld is a fake host with a clock of its own.
type fakeWorld struct {
	Clock *hostingtest.Clock
	world
}

// newFakeWorld returns the world of a fake, with the tokens of other people. Bob may read a repo.
func newFakeWorld(
	clock *hostingtest.Clock, server *hostfake.Server, repo string, open func(httpapi.Access) (githost.Host, error),
) fakeWorld {
	server.AddToken("canaryForeign", "eve", nil)
	server.AddToken("canaryReader", hostingtest.Bob, map[string]hostfake.Access{repo: hostfake.Read})
	token := func(_ testing.TB, as hostingtest.Credential) string {
		return map[hostingtest.Credential]string{hostingtest.Writer: server.Token, hostingtest.Reader: "canaryReader",
			hostingtest.Foreign: "canaryForeign", hostingtest.Wrong: "canaryWrong"}[as]
	}
	return fakeWorld{clock, world{&server.Traffic, server.URL, clock, token, open}}
}

// Pause implements [hostingtest.World].
func (w *fakeWorld) Pause(testing.TB) { w.Clock.Pass(time.Second) }
