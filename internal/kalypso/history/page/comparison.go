package page

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Comparison is the result of the data source kalypso_comparison.
type Comparison struct {
	Name        string // "": the branches
	Left, Right destination.Destination
	Promoted    struct {
		Pair[string]
		Commits *int
	}
	Targets    Pair[[]string]
	Placements map[string]Pair[[]string] // by deployment target
	// Configs maps deployment target, cluster type and key to the values.
	Configs map[string]map[string]map[string]Pair[*string]
	Files   map[string][]string // folders by the name of the file
}

// Pair contains one value for each side.
type Pair[T any] struct{ Left, Right T }

// maxDifferences limits the rows of a table of differences.
const maxDifferences = 500

// differences is the table of a comparison.
type differences struct {
	Name, Left, Right string
	Rows              []difference
	More              int // rows that are left out
}

type difference struct{ What, Left, Right, Where string }

func newDifferences(c *Comparison) differences {
	d := differences{Left: c.Left.Branch, Right: c.Right.Branch}
	if d.Left == d.Right {
		d.Left, d.Right = place(c.Left), place(c.Right)
	}
	d.Name = cmp.Or(printable.Line(c.Name), d.Left+" and "+d.Right)
	if p := c.Promoted; p.Left != p.Right {
		row := difference{What: "promoted commit", Left: orNone(short(p.Left)), Right: orNone(short(p.Right))}
		if p.Commits != nil {
			row.Where = problem.Count(*p.Commits, "commit") + " apart"
		}
		d.Rows = append(d.Rows, row)
	}
	for _, name := range c.Targets.Left {
		d.Rows = append(d.Rows, difference{What: "deployment target", Left: name, Right: none})
	}
	for _, name := range c.Targets.Right {
		d.Rows = append(d.Rows, difference{What: "deployment target", Left: none, Right: name})
	}
	for _, target := range slices.Sorted(maps.Keys(c.Placements)) {
		only := c.Placements[target]
		d.Rows = append(d.Rows, difference{"cluster types of " + target, list(only.Left), list(only.Right), ""})
	}
	d.Rows = append(d.Rows, configRows(c)...)
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		d.Rows = append(d.Rows, difference{"file " + name, "differs", "differs", list(c.Files[name])})
	}
	d.More = max(0, len(d.Rows)-maxDifferences)
	d.Rows = d.Rows[:len(d.Rows)-d.More]
	return d
}

// place names a destination so that it differs from another destination on a branch of the same name.
func place(at destination.Destination) string {
	return path.Join(at.Branch, at.Path) + " of " + path.Base(at.Repo)
}

// configRows returns a row for each difference of values. A difference in more folders comes first.
func configRows(c *Comparison) (rows []difference) {
	folders := map[difference][]string{}
	for _, target := range slices.Sorted(maps.Keys(c.Configs)) {
		for _, clusterType := range slices.Sorted(maps.Keys(c.Configs[target])) {
			for key, values := range c.Configs[target][clusterType] {
				row := difference{What: key, Left: valueOrNone(values.Left), Right: valueOrNone(values.Right)}
				folders[row] = append(folders[row], clusterType+"/"+target)
			}
		}
	}
	rows = slices.SortedFunc(maps.Keys(folders), func(a, b difference) int {
		return cmp.Or(cmp.Compare(len(folders[b]), len(folders[a])), cmp.Compare(a.What, b.What),
			cmp.Compare(a.Left, b.Left), cmp.Compare(a.Right, b.Right))
	})
	for i := range rows {
		rows[i].Where = list(folders[rows[i]])
	}
	return rows
}

const none = "–"

func orNone(t string) string { return cmp.Or(t, none) }

func valueOrNone(v *string) string {
	if v == nil {
		return none
	}
	return *v
}

// list joins the first names, and counts the others.
func list(names []string) string { return orNone(problem.First(names, problem.MaxListed)) }
