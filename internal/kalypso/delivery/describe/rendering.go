package describe

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// Rendering describes in Markdown what the apply changes, for reviewers. A pull request has it as its description, with
// the marker that names the rendering. before is the delivered tree, or the one that was found; see [remote.Result].
// The text depends on t and before alone, unless ctx is done: then it lacks the lines that change.
func Rendering(ctx context.Context, t *delivery.NextTree, before *delivery.State) string {
	at := t.Args.Destination
	if t.Args.Strategy == destination.None { // no branch gets the tree
		at = destination.Destination{}
	}
	c := RenderingChange{
		Environment: t.Args.Environment,
		At:          at,
		Policies:    t.Rendered.Policies,
		Requires:    t.Rendered.RequiredBeside,
		Links:       t.Args.Review.Links,
		Marker:      githost.Marker(t.Args.Environment, at.Branch, at.Path),
		MaxLength:   t.Args.Review.MaxLength(),
	}
	found := before.ExistingFolders()
	c.Before, c.After = found.ShownHash(), t.Folders.ShownHash()
	c.ClusterTypes = append(found.ChangesTo(t.Folders), found.UnchangedIn(t.Folders, MaxNodes)...)
	orphans := delivery.Orphans(t, found)
	reasons := delivery.WhyOrphaned(t, before, first(orphans, maxConsequences))
	for i, o := range orphans {
		why := ""
		if i < len(reasons) {
			why = reasons[i]
		}
		c.Orphans = append(c.Orphans, Orphan{Target: o.Target.Name, From: o.From, Reason: why})
	}
	c.Renamed = TargetRenames(t, found)
	c.Owners = ReachedOwners(t, before)
	if k := t.Failing; k != nil {
		c.Kept, c.LeftOut = delivery.FailedLines(k.Kept), delivery.FailedLines(k.LeftOut)
	}
	if was := before.Destination; was.Branch != "" && at.Branch != "" && !was.Same(at) {
		c.MovedFrom = was
	}
	if before.Environment != t.Args.Environment {
		c.ReplacedEnvironment = before.Environment
	}
	was, is := cmp.Or(before.Inputs, &delivery.Inputs{}), t.Args.Inputs()
	known := before.Inputs != nil || len(found) == 0 // the branch contained nothing before
	if known {
		c.Sources = SourceChanges(was.AllOrigins(), is.AllOrigins())
		nameRegistrations(t.Args.Fleet.Registrations, c.Sources)
	}
	if was.Configs != nil {
		c.Configs = configChanges(was.Configs, is.Configs, t.Args.Review.Detail == delivery.DetailValues)
		reach(t.Rendered, c.Configs, &fleet.Fleet{Configs: changedOf(t.Args.Fleet.Configs, c.Configs)},
			func(c configure.AssignmentConfig) *configure.Values { return c.Values })
		c.Secrets = configChanges(was.Secrets, is.Secrets, t.Args.Review.Detail == delivery.DetailValues)
		reach(t.Rendered, c.Secrets, &fleet.Fleet{Secrets: changedOf(t.Args.Fleet.Secrets, c.Secrets)},
			func(c configure.AssignmentConfig) *configure.Values { return c.Secrets })
	} else if len(found) > 0 {
		c.NotCompared = append(c.NotCompared, "configuration")
	}
	if !known {
		c.NotCompared = append(c.NotCompared, "sources")
	}
	if t.Args.Review.Detail == delivery.DetailLines {
		c.Lines = changedLines(ctx, t, before, c.ClusterTypes)
	}
	if promoted := t.Record.PromotedCommit; before.PromotedCommit != promoted {
		c.Promoted = PromotionChange{
			Repo: repoOf(before.PromotedCommit, promoted, was.AllOrigins(), is.AllOrigins()),
			From: before.PromotedCommit, To: promoted,
			Explanation: t.RecordOn(&before.LastRead).Promotion.Summary,
		}
	}
	if t.Step != nil && len(t.Step.Restored) > 0 {
		c.RolledBack = t.Step.RolledBack
	}
	return Markdown(c)
}

// nameRegistrations adds the registrations that read the repos of moves.
func nameRegistrations(registrations []*fleet.WorkloadRegistration, moves []SourceChange) {
	repos := lists.Map(registrations, func(r *fleet.WorkloadRegistration) string { return giturl.Key(r.Repo) })
	for i := range moves {
		repo := giturl.Key(moves[i].Repo)
		for n, r := range registrations {
			reads := func(file string) bool { return destination.Nested(path.Clean(r.Path), file) }
			if repos[n] == repo && slices.ContainsFunc(moves[i].Paths, reads) {
				moves[i].Registrations = append(moves[i].Registrations, r.Name)
			}
		}
		slices.Sort(moves[i].Registrations)
	}
}

// Removal describes the removal of an environment's folders from a destination, as [Rendering] does
// for a change.
func Removal(
	at destination.Destination, environment string, existing inventory.Folders, reached []owners.Reached,
	r delivery.Review,
) string {
	c := RenderingChange{
		Environment: environment,
		At:          at,
		Removal:     true,
		Links:       r.Links,
		Marker:      githost.RemovalMarker(environment, at.Branch, at.Path),
		MaxLength:   r.MaxLength(),
	}
	c.Before = existing.ShownHash()
	c.ClusterTypes, c.Owners = existing.ChangesTo(nil), reached
	return Markdown(c)
}

// configChanges compares the configs, or the references to secrets. values shows their values too.
func configChanges(was, is map[string]delivery.ConfigInputs, values bool) (changed []ConfigChange) {
	for name := range sets.Keys(was, is) {
		old, before := was[name]
		now, after := is[name]
		c := ConfigChange{
			Name: name, Kind: inventory.KindOf(before, after), LabelsChanged: before && after && old.Labels != now.Labels,
			Keys: keyChanges(old.Keys, now.Keys, values),
		}
		if c.Kind != inventory.Changed || len(c.Keys) > 0 || c.LabelsChanged {
			changed = append(changed, c)
		}
	}
	return changed
}

func keyChanges(was, is map[string]delivery.KeyInput, values bool) (changed []ConfigKey) {
	for name := range sets.Keys(was, is) {
		old, before := was[name]
		now, after := is[name]
		k := ConfigKey{Name: name, Kind: inventory.KindOf(before, after)}
		if k.Kind == inventory.Changed && old.Value == now.Value {
			continue
		}
		if values {
			k.Old, k.New = old.Shown, now.Shown
		}
		changed = append(changed, k)
	}
	return changed
}

// changedOf returns the objects that changed.
func changedOf[T fleet.Object](objects []T, changed []ConfigChange) (found []T) {
	names := make(map[string]bool, len(changed))
	for _, c := range changed {
		names[c.Name] = true
	}
	for _, o := range objects {
		if names[o.Metadata().Name] {
			found = append(found, o)
		}
	}
	return found
}

// reach finds the assignments to which the changed objects apply. f contains them, and of returns their values of an
// assignment.
func reach(
	r *delivery.Rendered, changed []ConfigChange, f *fleet.Fleet,
	of func(configure.AssignmentConfig) *configure.Values,
) {
	if len(f.Configs)+len(f.Secrets) == 0 {
		return
	}
	index := make(map[string]int, len(changed))
	for i, c := range changed {
		index[c.Name] = i
	}
	f.Environment = r.Args.Environment
	// This ends soon, because the objects were configured before. Errors in them were reported before there was a tree.
	configuration, _ := configure.New(context.Background(), f, r.Tree.Schedule)
	for i, p := range r.Tree.Schedule.Placements {
		sharing := map[*configure.Values]int{} // of the assignments
		for n := range p.Assignments {
			sharing[of(configuration.Of(i, n))]++
		}
		on := map[int]bool{}
		for values, n := range sharing {
			for _, o := range values.Objects {
				c := index[o.Metadata().Name]
				changed[c].Targets += n
				on[c] = true
			}
		}
		for c := range on {
			changed[c].ClusterTypes = append(changed[c].ClusterTypes, p.ClusterType.Name)
		}
	}
}

// repoOf returns the repo that contains both commits, according to the origins that name them, or "" if they name none.
func repoOf(from, to string, was, is []origin.Origin) string {
	repos := map[string]bool{}
	for commit, origins := range map[string][]origin.Origin{from: was, to: is} {
		for _, o := range origins {
			if commit != "" && o.Commit == commit {
				repos[o.Repo] = true
			}
		}
	}
	if len(repos) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(repos))[0]
}

// ReachedOwners returns the owners of whom the apply changes a folder. before is as in [Rendering].
func ReachedOwners(t *delivery.NextTree, before *delivery.State) []owners.Reached {
	if t.Args.Strategy != destination.PullRequest || len(t.Args.Owners) == 0 {
		return nil
	}
	now, _ := t.Args.Workspaces()
	return t.Args.Owners.Reached(before.ExistingFolders().ChangesTo(t.Folders), func(target string) string {
		return cmp.Or(now[target], before.Inputs.Workspace(target))
	})
}
