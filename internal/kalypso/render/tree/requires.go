package tree

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
)

// leaveOutWithout removes targets of folder i from the tree if the targets that they require were left out and the
// guardrail says so. If a target lost only some of the targets that satisfy its requirements, it is rendered
// again, since its templates may list them. leaveOutWithout returns the failures of these renderings.
func (t *Tree) leaveOutWithout(ctx context.Context, i int, rendered []renderedTarget) (failures []failure) {
	for again := t.options.LeaveOutFailed; again && ctx.Err() == nil; {
		again = false
		for _, n := range t.requires.LeaveOut(i, func(n int) bool { return rendered[n].leftOut }) {
			r := &rendered[n]
			if r.leftOut {
				continue
			}
			waiting := r.files != nil
			*r = renderedTarget{folder: TargetFolder{assignment: n}, objects: r.objects}
			result := t.renderer.Assignment(ctx, i, n, &render.Buffer{})
			r.set(&t.Schedule.Placements[i].Assignments[n], result, gitobject.NewHasher(), make([]entry, 0, render.MaxFiles))
			if waiting {
				r.files = result.Files
			}
			failures = append(failures, r.failures...)
			r.leftOut = len(r.failures) > 0
			again = again || r.leftOut
		}
		for n := range t.requires.Fails(i) {
			again = again || !rendered[n].leftOut
			rendered[n].leftOut = true
		}
	}
	return failures
}
