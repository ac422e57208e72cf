package engine

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/requires"
)

// Prepare runs the stages before the files are rendered, on a fleet that [Run] accepted before. The tree has no
// folders: [tree.Tree.RenderTarget] renders the files of one deployment target. prior contains the placement decisions
// of earlier runs.
func Prepare(ctx context.Context, f *fleet.Fleet, prior placement.PriorResults) *tree.Tree {
	_ = f.Validate(ctx) // Validate also sorts the objects
	assignments, _ := schedule.New(ctx, f, prior)
	configuration, _ := configure.New(ctx, f, assignments)
	index := requires.New(f, assignments, requires.Options{})
	renderer, _ := render.New(ctx, f, assignments, configuration, index)
	return tree.New(assignments, renderer)
}
