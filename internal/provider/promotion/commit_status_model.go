package promotion

import (
	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// statusArguments converts the attributes for the domain. An unknown deployment has unknown attributes.
func statusArguments(m schemas.Model) status.Arguments {
	d := m.Decoder()
	a := status.Arguments{
		Repo: d.String("repo"), Commit: d.String("commit"), Context: d.String("context"), State: d.String("state"),
		Description: d.String("description"), TargetURL: d.String("target_url"),
		RenewAfter: schemas.ReadDuration(d, "renew_after", 0), // 0 while it is unknown
	}
	if given, ok := d.Object("deployment"); ok {
		a.Deployment = &status.Deployment{
			PromotedCommit: given.String("promoted_commit"), Verdict: given.String("verdict"),
			Summary: given.String("summary"),
		}
	}
	return a
}

// observeStatus sets the attributes that a read status may have changed.
func observeStatus(m schemas.Model, found githost.Status, same status.Same) {
	a := statusArguments(m).Observe(found, same)
	m.Set(tfvalue.Values{"target_url": tfvalue.OrNil(a.TargetURL), "set_at": tfvalue.NullableTime(found.SetAt)})
	if a.Deployment == nil {
		m.Set(tfvalue.Values{"state": a.State, "description": tfvalue.OrNil(a.Description)})
		return
	}
	m.SetIn("deployment", tfvalue.Values{"verdict": a.Deployment.Verdict})
}
