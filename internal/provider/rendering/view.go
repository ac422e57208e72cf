package rendering

import (
	"context"
	"iter"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// view contains all computed attributes: each is a value, nil for null, or a [mark]. [planned] makes it for a plan,
// [outcome] for an apply, [refreshed] for a refresh, and [view.into] alone writes the attributes. feedback_status
// comes after it: from [setFeedback], which also adds it to the description, and from [sendFeedback].
//
//	plan              the tree     description, commit, delivered, pull_request
//	Rest              as before    as before; a create shows an empty tree, and delivered = false with a destination
//	Keep              of the plan  as before; with a rollout, delivered says what is true now
//	Withhold          as Keep; with a Stop as Rest; pull_request is known after apply
//	RemoveOld         as Keep; pull_request is known after apply
//	Write, Undecided  of the plan  known after apply, but what follows from the strategy and the tree is known
//
// With a Keep, rollout_status is as before; while a pause, windows or an earlier wave delay the change, so are
// unscheduled, target_tree_hash and delivered. feedback_status is as before, or what the apply will tell teams.
//
// What depends on unknown values is known after apply. A preview hides attributes, which are null then: see [shown].
type view struct {
	// The tree that the apply leaves.
	assignments, folders, files, summary any
	assignmentCount, unscheduled         any
	treeHash                             any // null if a create is stopped
	// targetTreeHash and rolloutStatus are null without the argument rollout.
	targetTreeHash, rolloutStatus any
	// The last change. With the strategy none, the last three are null.
	description any // null without delivery.describe
	commit      any // the branch's commit with the tree; null until a pull request is merged
	delivered   any // whether the branch contains the fleet's whole tree; false until the last wave, or the merge
	pullRequest any // null with the strategy push
	// feedbackStatus is set by [setFeedback].
	feedbackStatus any
}

// mark is the value of an attribute that is no value.
type mark string

const (
	afterApply mark = "known after apply"
	asBefore   mark = "as before"
)

// attributes returns the attributes by name.
func (v *view) attributes() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, a := range []struct {
			name  string
			value any
		}{
			{"assignments", v.assignments},
			{"assignment_count", v.assignmentCount},
			{"unscheduled", v.unscheduled},
			{"summary", v.summary},
			{"folders", v.folders},
			{"files", v.files},
			{"tree_hash", v.treeHash},
			{"target_tree_hash", v.targetTreeHash},
			{"description", v.description},
			{"commit_sha", v.commit},
			{"delivered", v.delivered},
			{"pull_request", v.pullRequest},
			{"rollout_status", v.rolloutStatus},
			{"feedback_status", v.feedbackStatus},
		} {
			if !yield(a.name, a.value) {
				return
			}
		}
	}
}

// into sets the computed attributes of m. last is the state before, or nil.
func (v *view) into(m, last resources.Model) {
	for name, value := range v.attributes() {
		switch {
		case value == afterApply:
			m.SetUnknown(name)
		case value != asBefore:
			m.Set(tfvalue.Values{name: value})
		case last == nil:
			m.Set(tfvalue.Values{name: nil})
		default:
			m.Keep(last, name)
		}
	}
}

// planned returns what an apply will show.
func planned(ctx context.Context, m, last resources.Model, plan delivery.Plan) (*view, error) {
	p := plan.All()
	var v *view
	if p.Stop != nil {
		v = stopped(m, p)
	} else {
		var err error
		v, err = treeOf(m, last, p.Situation, p.Next)
		if err != nil {
			return nil, err
		}
	}
	switch plan := plan.(type) {
	case *delivery.Keep:
		v.keepLast(m, last, plan)
	case *delivery.RemoveOld, *delivery.Withhold:
		if p.Stop == nil {
			v.keepLast(m, last, plan)
		}
		v.pullRequest = afterApply // Terraform doesn't apply a plan without a change
	case *delivery.Undecided:
		v.expect(ctx, p, inventory.Unread)
	case *delivery.Write:
		v.expect(ctx, p, plan.Described)
	}
	return v, nil
}

// outcome returns what an apply shows. m contains the planned attributes. With an error, the files are as before.
func outcome(m, last resources.Model, plan delivery.Plan, result *remote.Result) (v *view, err error) {
	p := plan.All()
	if p.Stop != nil {
		v = stopped(m, p)
	} else {
		v, err = treeOf(m, last, p.Situation, result.Applied)
		if err != nil {
			v.files = asBefore
		}
	}
	switch plan.(type) {
	case *delivery.Rest:
		return v, nil
	case *delivery.Keep, *delivery.RemoveOld:
		v.keepLast(m, last, plan)
		return v, err
	case *delivery.Withhold:
		if p.Stop == nil {
			v.keepLast(m, last, plan)
		}
		v.pullRequest = schemas.PullRequestValue(result.PullRequest)
		return v, err
	}
	v.description = m["description"]
	if m["description"].IsUnknown() {
		v.description = descriptionOf(context.Background(), result.Applied, result.Before) // it must be in the state
	}
	v.feedbackStatus = asBefore
	if p.Case == delivery.Computed {
		v.commit, v.delivered, v.pullRequest = nil, nil, nil
		return v, err
	}
	v.commit = tfvalue.OrNil(result.Commit)
	v.delivered = result.Applied.ReachedBy(result.State)
	v.pullRequest = schemas.PullRequestValue(result.PullRequest)
	return v, err
}

// refreshed returns what a refresh shows. files are the files on the branch after a revert; nil keeps the files of the
// state.
func refreshed(m resources.Model, found *remote.Refreshed, files map[string][]byte) *view {
	v := unchanged()
	v.commit, v.delivered = tfvalue.OrNil(found.Commit), found.Delivered
	if found.PullRequest != nil {
		v.pullRequest = schemas.PullRequestValue(found.PullRequest)
	}
	if !found.State.Reverted() {
		return v
	}
	// People reset the branch to an earlier delivery. If the fleet now renders the same tree, the next plan is empty.
	s, now := found.State, found.State.LastRead.Record
	v.setTree(m, s.Destination, s.OwnFolders())
	v.commit, v.delivered = s.LastRead.Head, now.Rollout == nil || now.Rollout.Complete
	if !m.IsNull("target_tree_hash") {
		v.targetTreeHash = v.treeHash
		if now.Rollout != nil {
			v.targetTreeHash = now.Rollout.TargetTreeHash
		}
		v.rolloutStatus = tfvalue.OrNil(delivery.RolloutOf(now, s.LastRead.Time).Status())
	}
	if files, text := branchFiles(files, now.PromotedCommit); text {
		v.files = files
	}
	return v
}

// importedView returns what an import shows of a tree on the branch.
func importedView(m resources.Model, s *delivery.State) *view {
	v := &view{commit: tfvalue.OrNil(s.Base), delivered: s.Rollout == nil || s.Rollout.Complete}
	v.setTree(m, s.Destination, s.Delivered)
	if r := s.Rollout; r != nil {
		v.targetTreeHash, v.rolloutStatus = tfvalue.OrNil(r.TargetTreeHash), tfvalue.OrNil(r.Status())
	}
	return v
}

// unchanged returns the attributes as they were.
func unchanged() *view {
	return &view{
		assignments: asBefore, folders: asBefore, files: asBefore, summary: asBefore, assignmentCount: asBefore,
		unscheduled: asBefore, treeHash: asBefore, targetTreeHash: asBefore, description: asBefore, commit: asBefore,
		delivered: asBefore, pullRequest: asBefore, rolloutStatus: asBefore, feedbackStatus: asBefore,
	}
}

// stopped returns what a rendering shows while a stop lets nothing go: what it showed before, or nothing.
func stopped(m resources.Model, p *delivery.Basis) *view {
	if p.Prior != nil {
		v := unchanged()
		if m.IsNull("rollout") {
			v.targetTreeHash, v.rolloutStatus = nil, nil
		}
		return v
	}
	v := &view{unscheduled: []string{}}
	v.setTree(m, p.Args.Destination, nil)
	v.treeHash = nil
	v.files = shown(m, true, func() any { return textsOf(nil) }, previewManifests)
	switch {
	case unknown.Is(string(p.Args.Strategy)):
		v.delivered = afterApply
	case p.Args.Delivers():
		v.delivered = false
	}
	return v
}

// treeOf shows the tree that an apply leaves, as far as it depends only on the configuration.
func treeOf(m, last resources.Model, s *delivery.Situation, t *delivery.NextTree) (v *view, err error) {
	read := t.Known > inventory.Unread
	known := read && t.Rendered.Tree != nil
	folders, named := plannedFolders(t)
	v = &view{assignmentCount: afterApply, unscheduled: afterApply, treeHash: afterApply}
	v.assignments = shown(m, known, func() any { return assignmentsOf(t.Folders) }, detailed...)
	v.folders = shown(m, read && named, func() any { return foldersOf(t.Args.Destination, folders) }, detailed...)
	v.summary = shown(m, known, func() any {
		return textsOf(s.Summary(t, last.Decoder().StringMap("summary")))
	}, previewSummary)
	v.files = shown(m, known && !configuration.AnyUnknown(t.Args.Destination.Path, t.Record.PromotedCommit),
		func() (files any) {
			files, err = plannedFiles(t, last)
			return files
		}, previewManifests)
	if known && t.Folders.Known() > inventory.Unread {
		v.assignmentCount = t.Folders.Count()
	}
	if t.Rendered.Tree != nil && len(t.Rendered.Tree.Schedule.Undecided) == 0 {
		v.unscheduled = t.Rendered.Unscheduled()
	}
	if t.Known == inventory.Whole {
		v.treeHash = t.Folders.TreeHash().String()
	}
	if m.IsNull("rollout") {
		return v, err
	}
	v.targetTreeHash, v.rolloutStatus = afterApply, afterApply
	if m["rollout"].IsUnknown() {
		return v, err
	}
	if hash := t.TargetTreeHash(); hash != "" {
		v.targetTreeHash = hash
	}
	if t.Rendered.Tree != nil && read {
		v.rolloutStatus = tfvalue.OrNil(t.Rollout.Status())
	}
	return v, err
}

// setTree shows a tree on the branch. In the summary, the line of an unchanged folder stays.
func (v *view) setTree(m resources.Model, at destination.Destination, on inventory.Folders) {
	v.assignmentCount, v.treeHash = on.Count(), on.TreeHash().String()
	v.assignments = shown(m, true, func() any { return assignmentsOf(on) }, detailed...)
	v.folders = shown(m, true, func() any { return foldersOf(at, on) }, detailed...)
	v.summary = shown(m, true, func() any {
		return textsOf(on.Summary(nil, m.Decoder().StringMap("summary")))
	}, previewSummary)
}

// expect shows what an apply writes, before it does. described says how much can be described.
func (v *view) expect(ctx context.Context, p *delivery.Basis, described inventory.Known) {
	v.commit, v.delivered, v.pullRequest, v.description = afterApply, afterApply, afterApply, afterApply
	v.feedbackStatus = asBefore
	switch p.Args.Strategy {
	case destination.None:
		v.commit, v.delivered, v.pullRequest = nil, nil, nil
	case destination.Push:
		v.pullRequest = nil
		if p.Next.Known > inventory.Unread {
			v.delivered = p.Next.Complete
		}
	}
	if described == inventory.Whole || p.Args.Review.Detail == delivery.DetailNone {
		v.description = descriptionOf(ctx, p.Next, p.State)
	}
}

// keepLast shows the results of the last apply that wrote. It keeps the description only if delivery.describe asks for
// one.
func (v *view) keepLast(m, last resources.Model, plan delivery.Plan) {
	p := plan.All()
	v.description, v.commit, v.delivered, v.pullRequest = asBefore, asBefore, asBefore, asBefore
	v.rolloutStatus, v.feedbackStatus = asBefore, asBefore
	if p.Args.Strategy == destination.Push { // a merged pull request may have delivered the tree
		v.pullRequest = nil
	}
	switch {
	case m.IsNull("rollout"):
		v.rolloutStatus = nil
	case p.Args.Delivers():
		v.delivered = p.Next.ReachedBy(p.State)
	}
	if delivery.Delayed(plan) { // the target of the last change stays until another change may begin
		v.unscheduled, v.delivered = asBefore, asBefore
		if v.targetTreeHash != nil && !last.IsNull("target_tree_hash") {
			v.targetTreeHash = asBefore
		}
	}
	switch detail := p.Args.Review.Detail; {
	case detail == delivery.DetailNone:
		v.description = nil
	case unknown.Is(string(detail)) && !last.IsNull("description"):
		v.description = afterApply
	}
}

// descriptionOf describes a change if delivery.describe asks for that. Otherwise it returns nil.
func descriptionOf(ctx context.Context, applied *delivery.NextTree, s *delivery.State) any {
	if applied.Args.Review.Detail == delivery.DetailNone {
		return nil
	}
	return describe.Rendering(ctx, applied, s)
}

// shown returns an attribute that these previews show, and that is null for any other preview.
func shown(m resources.Model, known bool, value func() any, previews ...string) any {
	switch preview := previewOf(m); {
	case !unknown.Is(preview) && !slices.Contains(previews, preview):
		return nil
	case unknown.Is(preview) || !known:
		return afterApply
	}
	return value()
}
