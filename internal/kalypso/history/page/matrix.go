package page

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
)

// matrix shows the versions: a row for each deployment target and cluster type, a column for each environment.
type matrix struct {
	Groups  []group
	Filters []filter
	Total   int // of rows
}

// group is a part of the rows with a headline.
type group struct {
	Name string
	Rows []*row
}

// filter narrows the rows by one value.
type filter struct {
	Name, Label string
	Values      []string
}

// owner is the workspace and the workload of a deployment target, for the filters. It may be empty.
type owner struct{ Workspace, Workload string }

// row shows the versions of a deployment target or a cluster type in all environments.
type row struct {
	Name    string
	Owner   owner
	Differs bool // environments run different versions
	Cells   []*cell
	types   map[string]bool // cluster types
}

// Types returns the cluster types, separated by line breaks.
func (r *row) Types() string { return strings.Join(slices.Sorted(maps.Keys(r.types)), "\n") }

// rows are the rows by their names.
type rows map[string]*row

// at returns the row with a name and these columns.
func (rs rows) at(name string, columns int) *row {
	if rs[name] == nil {
		rs[name] = &row{Name: name, Cells: make([]*cell, columns), types: map[string]bool{}}
	}
	return rs[name]
}

// cell returns the cell in a column.
func (r *row) cell(column int) *cell {
	if r.Cells[column] == nil {
		r.Cells[column] = &cell{addedChanges: sequence{}}
	}
	return r.Cells[column]
}

// newMatrix returns the rows, sorted by name.
func newMatrix(all []*environment) matrix {
	targets, types := rows{}, rows{}
	for i, e := range all {
		e.addTypes(func(name string) *cell {
			r := types.at(name, len(all))
			r.types[name] = true
			return r.cell(i)
		})
		for name, r := range types {
			if c := r.Cells[i]; c != nil {
				c.Version, c.own = e.reached(name)
			}
		}
		e.addTargets(func(name string, of owner, clusterType string) *cell {
			r := targets.at(name, len(all))
			r.own(of)
			if clusterType != "" {
				r.types[clusterType] = true
			}
			return r.cell(i)
		})
	}
	var m matrix
	for _, g := range []struct {
		name string
		rows rows
	}{{"Deployment targets", targets}, {"Cluster types", types}} {
		if len(g.rows) == 0 {
			continue
		}
		rows := slices.SortedFunc(maps.Values(g.rows), func(a, b *row) int { return cmp.Compare(a.Name, b.Name) })
		for _, r := range rows {
			r.compare()
		}
		m.Groups = append(m.Groups, group{g.name, rows})
		m.Total += len(rows)
	}
	m.Filters = m.filters()
	return m
}

func (r *row) own(o owner) {
	r.Owner = owner{Workspace: cmp.Or(r.Owner.Workspace, o.Workspace), Workload: cmp.Or(r.Owner.Workload, o.Workload)}
}

// addTypes adds the environment's versions of the folders of cluster types.
func (e *environment) addTypes(at func(name string) *cell) {
	if e.History != nil {
		e.addChanges(at)
		runs := map[string][]history.Run{}
		for _, r := range e.History.Runs {
			if r.Target == "" {
				runs[r.ClusterType] = append(runs[r.ClusterType], r)
			}
		}
		for name, all := range runs {
			at(name).addRuns(all)
		}
	}
	if e.State == nil {
		return
	}
	clusters := e.State.followers()
	for name, f := range e.State.Folders {
		c := at(name)
		c.State, c.Count = worst(f.Counts), fraction(f.Current, f.Total)
		if !f.Since.IsZero() {
			c.Since = f.Since
		}
		if all := clusters[name]; len(all) > 0 {
			c.Lines = nil
			c.addLines(all)
		}
	}
}

// addChanges adds the deliveries that changed the folders of cluster types.
func (e *environment) addChanges(at func(name string) *cell) {
	seen := sequence{}
	for _, d := range e.Deliveries {
		if d.PromotedCommit != "" && d.Kind != history.Rollback && !e.History.cut() {
			seen.add(d.Promoted.Short(), d.StartedAt)
		}
		for _, name := range d.Folders {
			c := at(name)
			c.addedChanges = seen
			if len(c.Changes) == 0 {
				c.Since = cmp.Or(d.DeliveredAt, d.StartedAt)
			}
			if len(c.Changes) < shownPast {
				c.Changes = append(c.Changes, d)
			}
		}
	}
}

// followers returns the clusters that follow each folder, with their problems.
func (s *DeploymentState) followers() map[string][]history.Run {
	type key struct{ cluster, folder string }
	problems := map[key]deployment.Problem{}
	for _, p := range s.Problems {
		problems[key{p.Cluster, p.Folder}] = p
	}
	all := map[string][]history.Run{}
	for name, follows := range s.Clusters {
		for _, f := range follows {
			p := problems[key{name, f.Folder}]
			state := observation.Condition{State: string(f.State.Reported(p.Failing))}
			all[f.Folder] = append(all[f.Folder], history.Run{Cluster: name, Condition: state, Message: p.Message})
		}
	}
	return all
}

// reached returns the version of a cluster type's folder: the promoted commit of the newest delivery that has reached
// the folder. A rollout in progress has only reached the folders that it changed so far. Without promotion, the version
// is the last commit of the environment's own branch that changed the folder, and own is true.
func (e *environment) reached(folder string) (version string, own bool) {
	for _, d := range e.Deliveries {
		changed := slices.Contains(d.Folders, folder)
		switch {
		case d.PromotedCommit != "" && (changed || d.Complete()):
			return d.Promoted.Short(), false
		case d.PromotedCommit == "" && changed:
			return d.GitOps.Short(), true
		}
	}
	if e.State != nil && e.State.Complete {
		return short(e.State.PromotedCommit), false
	}
	return "", false
}

// addTargets adds the environment's versions of the deployment targets.
func (e *environment) addTargets(at func(name string, of owner, clusterType string) *cell) {
	if e.State != nil {
		for name, t := range e.State.Targets {
			at(name, owner{}, "").addTarget(t)
		}
	}
	if e.History == nil {
		return
	}
	runs := map[string][]history.Run{}
	for _, r := range e.History.Runs {
		if r.Target != "" {
			runs[r.Target] = append(runs[r.Target], r)
			at(r.Target, owner{r.Version.Workspace, r.Version.Workload}, r.ClusterType)
		}
	}
	groups := map[string][]history.VersionCount{}
	for _, v := range e.History.Versions {
		if v.Target != "" {
			groups[v.Target] = append(groups[v.Target], v)
			at(v.Target, owner{v.Workspace, v.Workload}, "")
		}
	}
	for name, all := range groups {
		c := at(name, owner{}, "")
		c.setGroups(all)
		if e.State != nil && e.State.Targets[name].Failed > 0 {
			c.fail()
		}
	}
	for name, all := range runs {
		c := at(name, owner{}, "")
		c.addRuns(all)
		if !e.History.Truncated { // the first run of each version is known
			for _, r := range all {
				c.addedChanges.add(r.Version.Version, r.Since)
			}
		}
	}
}

// filters returns the filters with more than one value.
func (m matrix) filters() []filter {
	sets := map[string]map[string]bool{"workspace": {}, "workload": {}, "type": {}, "state": {}}
	for _, g := range m.Groups {
		for _, r := range g.Rows {
			sets["workspace"][r.Owner.Workspace] = true
			sets["workload"][r.Owner.Workload] = true
			maps.Copy(sets["type"], r.types)
			for _, c := range r.Cells {
				if c != nil {
					sets["state"][c.State] = true
				}
			}
		}
	}
	var all []filter
	for _, f := range []filter{
		{Name: "workspace", Label: "Workspace"}, {Name: "workload", Label: "Workload"},
		{Name: "type", Label: "Cluster type"}, {Name: "state", Label: "State"},
	} {
		delete(sets[f.Name], "")
		f.Values = slices.Sorted(maps.Keys(sets[f.Name]))
		if len(f.Values) > 1 {
			all = append(all, f)
		}
	}
	return all
}
