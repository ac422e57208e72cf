package baserepo

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// TestMessage: the message of a commit names the commit that is promoted. If people pinned a tag or a short hash, it
// names what they pinned.
func TestMessage(t *testing.T) {
	at := EnvironmentBranch{Repo: "https://acme.io/control-plane", Branch: "prod"}
	kept := Desired{At: at, Promotion: promotion.Promotion{
		Commit: "42f2c201b96055faead8da72a126ec3e8fe30296", Reason: promotion.Reason{Decision: promotion.Hold},
	}}
	drifted := State{At: at, Delivered: "v1", Commit: "42f2c201b96055faead8da72a126ec3e8fe30296"}
	for _, test := range []struct {
		d    *Desired
		want string
	}{
		{&kept, "Set the base of prod to 42f2c201b960\n\nPromoted commit: 42f2c201b96055faead8da72a126ec3e8fe30296\n"},
		{kept.KeepDelivered(&drifted), "Set the base of prod to v1\n\nPromoted commit: v1\n"},
		{&Desired{Message: "Ours"}, "Ours"},
	} {
		if got := test.d.message(); got != test.want {
			t.Errorf("the message is %q, want %q", got, test.want)
		}
	}
}
