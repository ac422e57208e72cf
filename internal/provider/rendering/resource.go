package rendering

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewResource returns the resource kalypso_environment_rendering, which delivers the rendered tree of an environment to
// its branch.
func NewResource() resource.Resource {
	return resources.NewManaged(resources.Managed{
		Name: resourceName, Schema: environmentRenderingSchema, Identity: renderingIdentity,
		Repo: func(m resources.Model) string {
			repo, _ := m.Decoder().Object("gitops_repo")
			return repo.String("repo")
		},
		ReadTimeout: resources.ReadTimeout, WriteTimeout: resources.WriteTimeout, Check: checkSize, Plan: plan,
		PlanDestroy: planDestroy, Apply: apply, Read: refresh, Destroy: destroy, Import: importRendering,
	})
}

const resourceName = "environment_rendering"

// apply delivers the tree. If a create fails, the next one finds on the branch what this one wrote.
func apply(ctx context.Context, c *resources.Call) resources.Model {
	prior := priorOf(c.State)
	var before *delivery.State
	if c.State == nil {
		c.Bulk.Data = nil // the private state of a rendering that no longer exists, or is replaced
	} else {
		before = readDelivery(c, prior)
	}
	if c.Diags.HasError() {
		explainErrors(c.State, c.Diags, did, before, nil)
		return nil
	}
	defer func() { explainErrors(c.Plan, c.Diags, wouldDo, before, nil) }()
	p, found := planForApply(ctx, c, prior, before)
	if c.Diags.HasError() || schemas.AppendWindowClosed(c.Diags, delivery.CheckWindow(p, c.Data.Now())) {
		return nil
	}
	planned := maps.Clone(c.Plan)
	result, err := operations(ctx, c.Data).Apply(ctx, p)
	if err != nil {
		configuration.AppendDeliveryError(c.Diags, p.All().Args.Destination, err)
		return nil
	}
	tflog.Info(ctx, "delivered the tree", map[string]any{"commit": result.Commit, "pushed": result.Pushed})
	tfvalue.AppendProblems(c.Diags, report.Result(p, result))
	writeDelivery(c, result.State)
	v, err := outcome(planned, c.State, p, result)
	if err != nil {
		c.Diags.AddAttributeError(path.Root("preview"), "File can't be shown", err.Error()+".")
	}
	v.into(c.Plan, c.State)
	if p.All().Stop == nil && sendFeedback(ctx, c, result, before, planned) {
		keepNothingToDo(ctx, c, p, found, result.State)
	}
	return c.Plan
}

// planForApply returns the last plan if it belongs to these values. Otherwise it renders the fleet and plans again.
// found contains the problems of the arguments and the fleet.
func planForApply(
	ctx context.Context, c *resources.Call, prior *delivery.Prior, before *delivery.State,
) (p delivery.Plan, found problem.Problems) {
	a := decodeArguments(c.Plan.Decoder())
	p, found = c.Data.LastPlans.Take(a.Environment, a.Destination, c.Plan)
	if p != nil {
		return p, found
	}
	rendered, found := render(ctx, c.Data, c.Plan, prior, before)
	p, ps := decide(rendered, found, prior, before)
	tfvalue.AppendProblems(c.Diags, slices.DeleteFunc(ps, func(p problem.Problem) bool {
		return p.Severity == problem.Warning // the plan has shown it
	}))
	return p, found
}

// operations returns the access to the branch.
func operations(ctx context.Context, data *configuration.Data) remote.Operations {
	return remote.Operations{
		Git: data.Client, Host: data.Hosting, Claims: &data.Claims, Progress: logProgress(ctx, logEvery),
		NewProofKey: data.NewProofKey,
	}
}

// refresh compares the branch with the last delivery, and keeps the result in the private state.
func refresh(ctx context.Context, c *resources.Call) resources.Model {
	prior := priorOf(c.State)
	before := readDelivery(c, prior)
	defer func() { explainErrors(c.State, c.Diags, did, before, nil) }()
	if c.Diags.HasError() || !c.Known() {
		return nil
	}
	found, err := operations(ctx, c.Data).Refresh(ctx, prior, before)
	switch {
	case err != nil:
		configuration.AppendDeliveryError(c.Diags, prior.Destination, err)
		return nil
	case found == nil:
		return nil
	}
	tfvalue.AppendProblems(c.Diags, report.Refreshed(prior, found))
	if found.Removed {
		c.Removed = true
		return nil
	}
	if found.Changed {
		writeDelivery(c, found.State)
	}
	files, err := revertedFiles(ctx, c, found.State)
	if err != nil {
		configuration.AppendDeliveryError(c.Diags, prior.Destination, err)
		return nil
	}
	now := maps.Clone(c.State)
	refreshed(now, found, files).into(now, c.State)
	if found.State.Reverted() {
		revertArguments(now, found.State.LastRead.Record)
	}
	if reflect.DeepEqual(now, c.State) {
		return nil
	}
	return now
}

// revertedFiles returns the files on the branch after a revert, if the state still shows the files from before it.
func revertedFiles(ctx context.Context, c *resources.Call, now *delivery.State) (map[string][]byte, error) {
	if c.State.IsNull("files") || !now.Reverted() || c.State.Text("tree_hash") == now.OwnFolders().TreeHash().String() {
		return nil, nil
	}
	return operations(ctx, c.Data).Files(ctx, now)
}

// destroy removes the rendering's folders from the branch.
func destroy(ctx context.Context, c *resources.Call) {
	prior := priorOf(c.State)
	before := readDelivery(c, prior)
	defer func() { explainErrors(c.State, c.Diags, did, before, nil) }()
	d := decodeArguments(c.State.Decoder())
	tfvalue.AppendProblems(c.Diags, d.ValidateDestroy())
	planned, ds := c.Private.GetKey(ctx, destroyPlannedKey)
	c.Diags.Append(ds...)
	c.Diags.Append(c.Private.SetKey(ctx, destroyPlannedKey, nil)...) // the key is only for this destroy, even if it fails
	if planned == nil && d.Delivers() && !d.KeepOnDestroy {
		configuration.AppendDeliveryError(c.Diags, d.Destination, delivery.Replaces(d.Destination, d.Environment))
	}
	if c.Diags.HasError() {
		return
	}
	d.Author = c.Data.Committer(d.Trailers)
	after, destroyed, err := operations(ctx, c.Data).Destroy(ctx, d, prior, before)
	tfvalue.AppendProblems(c.Diags, report.Destroyed(destroyed))
	if err != nil {
		writeDelivery(c, after)
		configuration.AppendDeliveryError(c.Diags, d.Destination, err)
		return
	}
	endFeedback(ctx, c, d)
}

// readDelivery returns the delivery that the last run stored in the private state. It returns nil if this version of
// the provider can't read it. It reports the private state of another rendering.
func readDelivery(c *resources.Call, p *delivery.Prior) *delivery.State {
	s, err := delivery.DecodeState(c.Bulk.Data)
	if err != nil {
		return nil // absent, or of another version: Read recovers it from the branch
	}
	if s.Current() && !p.Of(s) {
		c.Diags.AddError("Private state of another rendering", fmt.Sprintf(
			"The state is of environment %q at %s. Its private part is of environment %q at %s. A part of the state was "+
				"edited or restored. Nothing was read or written. Restore the state from a backup. Or remove the rendering from "+
				"the state with \"terraform state rm\", and import it again with \"terraform import\" and the ID %s.",
			p.Environment, p.Destination, s.Environment, s.Destination, p.Destination.ImportID(p.Environment, p.Preview)))
		return nil
	}
	return s
}

// writeDelivery keeps s in the private state for the next run. A nil s changes nothing.
func writeDelivery(c *resources.Call, s *delivery.State) {
	if s == nil {
		return
	}
	data, err := s.Encode()
	if err != nil {
		c.Diags.AddError("Private state can't be written", err.Error())
		return
	}
	c.Bulk.Data = data
}

// logEvery is the interval at which long work logs its progress.
const logEvery = 3 * time.Second

// logProgress logs the progress of long work: rendered folders of cluster types, packed folders, sent bytes. A total of
// 0 is unknown.
func logProgress(ctx context.Context, every time.Duration) func(stage string, done, total int) {
	last := time.Now()
	return func(stage string, done, total int) {
		if now := time.Now(); now.Sub(last) >= every {
			last = now
			fields := map[string]any{"done": strconv.Itoa(done)} // Terraform would show the number as 4.1e+07
			if total > 0 {
				fields["total"] = strconv.Itoa(total)
			}
			tflog.Info(ctx, stage, fields)
		}
	}
}
