package hosts

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// newFakeWorld returns the world of a fake with a clock, and with the tokens of other people. Bob may read a repo.
func newFakeWorld(
	clock *hostingtest.Clock, fake any, server *hostfake.Server, repo string,
	open func(httpapi.Access) (githost.Host, error),
) *hostingtest.World {
	server.AddToken("canaryForeign", "eve", nil)
	server.AddToken("canaryReader", hostingtest.Bob, map[string]hostfake.Access{repo: hostfake.Read})
	tokens := map[hostingtest.Credential]string{hostingtest.Writer: server.Token, hostingtest.Reader: "canaryReader",
		hostingtest.Foreign: "canaryForeign", hostingtest.Wrong: "canaryWrong"}
	return &hostingtest.World{
		Server: fake, URL: server.URL, Traffic: &server.Traffic, Clock: clock, Open: open,
		Token: func(_ testing.TB, as hostingtest.Credential) string { return tokens[as] },
	}
}

// withClock returns options with a clock that begins now.
func withClock(options []hostfake.Option) (*hostingtest.Clock, []hostfake.Option) {
	clock := hostingtest.NewClockNow()
	return clock, append([]hostfake.Option{hostfake.WithClock(clock.Now)}, options...)
}
