// Package owners finds the owners of the folders that a change touches, so that they are asked to review it.
package owners

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// MaxReviewers is the largest number of reviewers of one pull request, as GitHub allows. If a change needs more, no
// owner is asked.
const MaxReviewers = 15

// Owner reviews changes of the folders of a workspace, of cluster types, or of a workspace on cluster types. An unknown
// text is [unknown.Text].
type Owner struct {
	Workspace    string   // of the workload; "": each
	ClusterTypes []string // empty: each
	Reviewers    []string
}

// Reached is an owner of whom folders change.
type Reached struct {
	Owner
	Folders []string // as cluster type/deployment target
}

// Owners lists the owners of folders.
type Owners []Owner

// Equal reports whether both list the same owners.
func (o Owners) Equal(other Owners) bool {
	return slices.EqualFunc(o, other, func(a, b Owner) bool {
		return a.sameFolders(b) && slices.Equal(a.Reviewers, b.Reviewers)
	})
}

func (o Owner) sameFolders(other Owner) bool {
	return o.Workspace == other.Workspace &&
		slices.Equal(sets.Union(o.ClusterTypes, nil), sets.Union(other.ClusterTypes, nil))
}

func (o Owner) hasUnknown() bool {
	return unknown.Is(o.Workspace) || slices.ContainsFunc(o.ClusterTypes, unknown.Is) ||
		slices.ContainsFunc(o.Reviewers, unknown.Is)
}

// HasUnknown reports whether an argument of an owner is not known yet.
func (o Owners) HasUnknown() bool { return slices.ContainsFunc(o, Owner.hasUnknown) }

// Workspaces returns the workspaces that owners name.
func (o Owners) Workspaces() (names []string) {
	for _, owner := range o {
		if owner.Workspace != "" {
			names = append(names, owner.Workspace)
		}
	}
	return names
}

// at returns the path of an argument of the i-th owner.
func at(i int, steps ...problem.Step) []problem.Step {
	return append([]problem.Step{problem.Attr("delivery"), problem.Attr("owners"), problem.Index(i)}, steps...)
}

// Validate reports invalid owners. It skips arguments that are not known yet.
func (o Owners) Validate() (ps problem.Problems) {
	for i, owner := range o {
		add := func(summary, detail string, steps ...problem.Step) {
			ps = append(ps, problem.Problem{Path: at(i, steps...), Summary: summary, Detail: detail})
		}
		if owner.Workspace == "" && len(owner.ClusterTypes) == 0 {
			add("Owner without folders", "The owner has neither workspace nor cluster_types. Set one of them, or both. List "+
				"the reviewers of every change in delivery.reviewers.")
		}
		if len(owner.Reviewers) == 0 {
			add("Owner without reviewers", "No review can be requested from the owner. Name a user or a team.",
				problem.Attr("reviewers"))
		}
		for _, name := range owner.Reviewers {
			if err := pullrequest.CheckReviewer(name); err != nil {
				add("Invalid reviewer", problem.Sentence(err), problem.Attr("reviewers"))
			}
		}
		first := slices.IndexFunc(o, owner.sameFolders)
		if first < i && !owner.hasUnknown() {
			add("Owner given twice", fmt.Sprintf("delivery.owners[%d] owns the same folders. Put the reviewers of both into "+
				"one owner.", first))
		}
	}
	return ps
}

// Check warns about workspaces and cluster types that the fleet does not have: no folder can be of them.
func (o Owners) Check(f *fleet.Fleet) (ps problem.Problems) {
	if len(o) == 0 || f.Incomplete {
		return nil
	}
	var workspaces, clusterTypes []string
	for _, r := range f.Registrations {
		workspaces = append(workspaces, r.Workspace)
	}
	for _, w := range f.Workloads {
		workspaces = append(workspaces, f.Workspace(w))
	}
	for _, ct := range f.ClusterTypes {
		clusterTypes = append(clusterTypes, ct.Name)
	}
	for i, owner := range o {
		warn := func(kind, name string, existing []string, steps ...problem.Step) {
			if name == "" || unknown.Is(name) || slices.Contains(existing, name) || slices.ContainsFunc(existing, unknown.Is) {
				return
			}
			ps = append(ps, problem.Problem{
				Severity: problem.Warning, Path: at(i, steps...), Summary: "Owner of no folder",
				Detail: fmt.Sprintf("The fleet has no %s %q, so no folder matches, and this owner is never asked. Check the "+
					"spelling.", kind, name),
			})
		}
		warn("workspace", owner.Workspace, workspaces, problem.Attr("workspace"))
		for _, name := range owner.ClusterTypes {
			warn("cluster type", name, clusterTypes, problem.Attr("cluster_types"))
		}
	}
	return ps
}

// Reached returns the owners of whom a folder changes, in their order, with these folders. workspace returns the
// workspace of a deployment target, or "".
func (o Owners) Reached(
	changes []inventory.ClusterType, workspace func(target string) string,
) (reached []Reached) {
	for _, owner := range o {
		var folders []string
		for _, ct := range changes {
			if len(owner.ClusterTypes) > 0 && !slices.Contains(owner.ClusterTypes, ct.Name) {
				continue
			}
			targets := slices.Concat(ct.Added, ct.Removed, ct.Changed)
			slices.Sort(targets)
			for _, target := range targets {
				if owner.Workspace == "" || owner.Workspace == workspace(target) {
					folders = append(folders, ct.Name+"/"+target)
				}
			}
		}
		if len(folders) > 0 {
			reached = append(reached, Reached{Owner: owner, Folders: folders})
		}
	}
	return reached
}

// All returns the reviewers of each change and those of all owners.
func (o Owners) All(reviewers []string) []string {
	for _, owner := range o {
		reviewers = with(reviewers, owner.Reviewers)
	}
	return reviewers
}

// Asked returns the reviewers of each change and those of the owners that a change reaches. If they are more than
// [MaxReviewers], it returns the former alone, and tooMany has the number of all.
func Asked(reviewers []string, reached []Reached) (asked []string, tooMany int) {
	asked = reviewers
	for _, owner := range reached {
		asked = with(asked, owner.Reviewers)
	}
	if len(asked) > MaxReviewers && len(asked) > len(reviewers) {
		return reviewers, len(asked)
	}
	return asked, 0
}

// with adds the reviewers that a list lacks. Hosts ignore the case of their names.
func with(reviewers, more []string) []string {
	all := slices.Clip(reviewers)
	for _, name := range more {
		if !slices.ContainsFunc(all, func(other string) bool { return strings.EqualFold(name, other) }) {
			all = append(all, name)
		}
	}
	return all
}
