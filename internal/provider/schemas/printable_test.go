package schemas

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// TestPrintableDiagnostics: a diagnostic escapes every untrusted name and text, from any source.
func TestPrintableDiagnostics(t *testing.T) {
	const evil, shown = "a\x1b[2J\u202eb", `a\x1b[2J\u202eb`
	nothing := &delivery.Arguments{Fleet: &fleet.Fleet{}}
	none := delivery.Basis{Situation: &delivery.Situation{Args: nothing}, Next: &delivery.NextTree{Args: nothing}}
	host := &githost.Error{Op: evil, Kind: githost.ErrRejected, Message: evil, Cause: errors.New(evil)}
	for name, add := range map[string]func(*diag.Diagnostics){
		"file of a registration": func(d *diag.Diagnostics) {
			AppendSourceProblems(d, source.Problems{{Registration: evil, File: evil, Summary: "Invalid YAML", Detail: evil}})
		},
		"problem of an object": func(d *diag.Diagnostics) {
			p := problem.Problem{Kind: string(fleet.KindWorkload), Name: evil, Summary: "Wrong", Detail: evil}
			tfvalue.AppendProblems(d, problem.Problems{p})
		},
		"problem with a list": func(d *diag.Diagnostics) {
			p := problem.Problem{Summary: "Wrong", Detail: problem.IndentedList([]string{evil, "x\ny"}, 5)}
			tfvalue.AppendProblems(d, problem.Problems{p})
		},
		"error of an API": func(d *diag.Diagnostics) {
			configuration.AppendHostError(d, path.Root("repo"), host)
		},
		"error of an API in a delivery": func(d *diag.Diagnostics) {
			configuration.AppendDeliveryError(d, destination.Destination{}, host)
		},
		"another error of a delivery": func(d *diag.Diagnostics) {
			configuration.AppendDeliveryError(d, destination.Destination{}, errors.New(evil))
		},
		"no rendering": func(d *diag.Diagnostics) {
			configuration.AppendDeliveryError(d, destination.Destination{}, fmt.Errorf("%w: %s", delivery.ErrNoRendering, evil))
		},
		"drift": func(d *diag.Diagnostics) {
			by := drift.Commit{Commit: "c", Author: evil, Subject: evil, Paths: []string{evil}}
			decision := delivery.Write{Basis: none, Effects: delivery.Effects{}}
			decision.Drift = []*delivery.State{{Drift: []drift.Commit{by}}}
			tfvalue.AppendProblems(d, report.Plan(&decision))
		},
		"adoption": func(d *diag.Diagnostics) {
			adoption := delivery.Adoption{Adopted: []string{evil}}
			decision := delivery.Write{Basis: none, Effects: delivery.Effects{Adoption: adoption}}
			tfvalue.AppendProblems(d, report.Plan(&decision))
		},
	} {
		var diags diag.Diagnostics
		add(&diags)
		for _, d := range diags {
			if text := d.Summary() + d.Detail(); strings.ContainsAny(text, "\x1b\u202e") || !strings.Contains(text, shown) {
				t.Errorf("%s: %q", name, text)
			}
		}
		if len(diags) == 0 {
			t.Errorf("%s: no diagnostic", name)
		}
	}
}
