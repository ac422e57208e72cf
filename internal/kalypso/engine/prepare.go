package engine

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/requires"
)

// Prepare runs the stages before the files are rendered, on a fleet that [Run] accepted before. The tree has no
// folders: [tree.Tree.RenderTarget] renders the files of one deployment target.
func Prepare(ctx context.Context, f *fleet.Fleet) *tree.Tree {
	_ = f.Validate(ctx) // Validate also sorts the objects
	assignments, _ := schedule.New(ctx, f)
	configuration, _ := configure.New(ctx, f, assignments)
	renderer, _ := render.New(ctx, f, assignments, configuration, requires.New(f, assignments))
	return tree.New(assignments, renderer)
}
