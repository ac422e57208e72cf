package promotion

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// statusArguments converts the attributes for the domain. An unknown deployment has unknown attributes.
func statusArguments(m resources.Model) status.Arguments {
	var a status.Arguments
	m.Decoder().Read(&a)
	return a
}

// observeStatus sets the attributes that a read status may have changed.
func observeStatus(m resources.Model, found githost.Status, same status.Same) {
	a := statusArguments(m).Observe(found, same)
	m.Set(tfvalue.Values{"target_url": tfvalue.OrNil(a.TargetURL), "set_at": found.SetAt})
	if a.Deployment == nil {
		m.Set(tfvalue.Values{"state": a.State, "description": tfvalue.OrNil(a.Description)})
		return
	}
	m.SetIn("deployment", tfvalue.Values{"verdict": a.Deployment.Verdict})
}
