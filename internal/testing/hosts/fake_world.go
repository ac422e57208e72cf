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

// The tokens of other people in each fake. Its own token is the one of [hostingtest.Writer].
const (
	readerToken  = "canaryReader"
	foreignToken = "canaryForeign"
)

// fakeWorld is a fake host with a clock of its own.
type fakeWorld struct {
	Clock  *hostingtest.Clock
	server *hostfake.Server
	writer string // token
	open   func(httpapi.Access) (githost.Host, error)
}

// Host implements [hostingtest.World].
func (w *fakeWorld) Host(t testing.TB, as hostingtest.Credential) githost.Host {
	t.Helper()
	return w.HostOver(t, as, nil)
}

// HostOver implements [hostingtest.World].
func (w *fakeWorld) HostOver(t testing.TB, as hostingtest.Credential, transport http.RoundTripper) githost.Host {
	t.Helper()
	host, err := w.open(httpapi.Access{
		Token: w.token(as), BaseURL: w.server.URL, Clock: w.Clock, Credential: "token", Transport: transport,
	})
	return hostOf(t, host, err)
}

// Arguments implements [hostingtest.World].
func (w *fakeWorld) Arguments(_ testing.TB, as hostingtest.Credential) map[string]any {
	return map[string]any{"base_url": w.server.URL, "token": w.token(as)}
}

func (w *fakeWorld) token(as hostingtest.Credential) string {
	return map[hostingtest.Credential]string{hostingtest.Writer: w.writer, hostingtest.Reader: readerToken,
		hostingtest.Foreign: foreignToken, hostingtest.Wrong: "canaryWrong"}[as]
}

// Requests implements [hostingtest.World].
func (w *fakeWorld) Requests() int { return len(w.server.Requests()) }

// Pause implements [hostingtest.World].
func (w *fakeWorld) Pause(testing.TB) { w.Clock.Pass(time.Second) }
