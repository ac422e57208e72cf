package tree

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/objects"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// Flux on a cluster builds the folder of the cluster type as a whole, so the objects of all files in the folder are
// compared, once all files are rendered. If the folder is the same as last delivered, its objects are not read. If it
// changes, the changed files must be valid.

// maxWaiting limits the bytes of folder i's rendered files that are kept unread until it is known whether the folder
// changes. Beyond the limit, the objects of files are read at once, while the files are in the CPU's cache. A folder
// that was never delivered is known to change, so none of its files wait.
func (t *Tree) maxWaiting(i int) int64 {
	if t.options.Delivered == nil || len(t.options.Delivered(t.Schedule.Placements[i].ClusterType.Name, "")) == 0 {
		return 0
	}
	return 16 << 20
}

// objectsRead contains the facts about the objects of a target.
type objectsRead struct {
	hashes   []uint64 // see [objects.Object.Hash]
	strays   []stray
	unserved []unservedVersion
	invalid  []invalidFile
}

// stray is an object outside of the namespace of its assignment.
type stray struct {
	by   *fleet.Template
	line string
}

// found lists the faults that were found in the objects of a folder.
type found struct {
	strays     []stray
	unserved   map[unservedVersion]bool
	invalid    []invalidFile
	collisions []collision
}

// collision is an object that a deployment target renders although another file of the folder contains it too.
type collision struct {
	clusterType, target, otherTarget string
	file, other                      render.File
	object                           string
	n                                int // the index of target in its folder
}

func (c *collision) self() bool { return c.target == c.otherTarget }

// String describes the collision with both files.
func (c *collision) String() string {
	return fmt.Sprintf("%s: %s in %s/%s and %s/%s",
		c.clusterType, c.object, c.otherTarget, c.other.Path, c.target, c.file.Path)
}

// fails reports whether the collision removes its deployment target from the tree.
func (c *collision) fails(reaction problem.Reaction) bool {
	return c.self() || reaction == problem.Fail
}

// leaveOut removes the targets that fail because of collisions from the tree. It reports whether any target fails.
func (all found) leaveOut(o *Options, rendered []renderedTarget) (some bool) {
	some = len(all.invalid) > 0 && o.Invalid == problem.Fail
	for _, c := range all.collisions {
		if c.fails(o.Duplicates) {
			rendered[c.n].leftOut, some = true, true
		}
	}
	return some
}

// checksObjects reports whether the objects in the folders are read.
func (t *Tree) checksObjects() bool {
	return t.options.Valid && (t.options.Duplicates.Reports() || t.options.Invalid.Reports())
}

// changes reports whether a folder, or the folder of a target in it, differs from what was delivered.
func (o *Options) changes(clusterType, target string, hash Hash) bool {
	if o.Delivered == nil {
		return true
	}
	delivered := o.Delivered(clusterType, target)
	return len(delivered) == 0 || !bytes.HasPrefix(hash[:], delivered)
}

// objectReader reads the objects of the targets of a folder, one after another.
type objectReader struct {
	tree      *Tree
	folder    int
	placement *schedule.Placement
	buffer    []objects.Object
	hashes    []uint64 // of all targets
}

// read reads the objects in the files of target n.
func (o *objectReader) read(n int, r *renderedTarget) {
	if o.hashes == nil {
		o.hashes = make([]uint64, 0, 4*targetsPerChunk)
	}
	first := len(o.hashes)
	a := &o.placement.Assignments[n]
	if o.tree.options.Invalid.Reports() && o.tree.options.changes(a.ClusterType.Name, r.folder.Name, r.folder.Hash) {
		r.objects.invalid = o.tree.validate(o.folder, n, r.files)
	}
	for i := range r.files {
		f := &r.files[i]
		if !holdsObjects(f) || !o.tree.options.Duplicates.Reports() {
			continue
		}
		o.buffer = objects.Scan(o.buffer[:0], f.Content)
		for k := range o.buffer {
			object := &o.buffer[k]
			if why := object.Stray(a.Namespace, f.Template.Type == fleet.TemplateReconciler); why != "" {
				r.objects.strays = append(r.objects.strays, stray{f.Template, fmt.Sprintf(
					"%s / %s/%s, document %d: %s", a.ClusterType.Name, a.Target.Name, f.Path, object.Document, why)})
			}
			if object.Identified() {
				o.hashes = append(o.hashes, object.Hash())
			}
			if served := object.ServedVersion(); served != "" {
				found := unservedVersion{f.Template.Name, string(object.APIVersion), served}
				r.objects.unserved = append(r.objects.unserved, found)
			}
		}
	}
	r.files, r.objects.hashes = nil, slices.Clip(o.hashes[first:])
}

func holdsObjects(f *render.File) bool {
	return !f.Unknown && f.Template.RendersObjects()
}

// checkObjects compares the objects of folder i.
func (t *Tree) checkObjects(ctx context.Context, i int, rendered []renderedTarget) found {
	parallel.Do((len(rendered)+targetsPerChunk-1)/targetsPerChunk, func(chunk int) {
		reader := objectReader{tree: t, folder: i, placement: &t.Schedule.Placements[i]}
		for n := chunk * targetsPerChunk; n < min(len(rendered), (chunk+1)*targetsPerChunk) && ctx.Err() == nil; n++ {
			if rendered[n].files != nil { // not read yet
				reader.read(n, &rendered[n])
			}
		}
	})
	all := found{unserved: map[unservedVersion]bool{}}
	count := 0
	for n := range rendered {
		count += len(rendered[n].objects.hashes)
	}
	hashes := make([]uint64, 0, count)
	for n := range rendered {
		if rendered[n].leftOut {
			continue
		}
		if invalid := rendered[n].objects.invalid; len(invalid) > 0 {
			all.invalid = append(all.invalid, invalid...)
			rendered[n].leftOut = t.options.Invalid == problem.Fail
			if rendered[n].leftOut {
				continue
			}
		}
		all.strays = append(all.strays, rendered[n].objects.strays...)
		for _, v := range rendered[n].objects.unserved {
			all.unserved[v] = true
		}
		hashes = append(hashes, rendered[n].objects.hashes...)
	}
	slices.Sort(hashes)
	twice := map[uint64]bool{}
	for k := 1; k < len(hashes); k++ {
		if hashes[k] == hashes[k-1] {
			twice[hashes[k]] = true
		}
	}
	if len(twice) > 0 {
		all.collisions = t.collide(i, rendered, twice)
	}
	return all
}

// collide returns the objects that are rendered twice, by one target or by two. It looks only at objects whose hash is
// in twice. The later target is at fault. Unchanged targets come first, then targets that were delivered and change,
// then new targets.
func (t *Tree) collide(i int, rendered []renderedTarget, twice map[uint64]bool) (all []collision) {
	owners := map[uint64][]owner{}
	for _, n := range t.inOrderOfDelivery(i, rendered, twice) {
		own, collisions := t.collideTarget(i, n, rendered[n].folder.Name, twice, owners)
		all = append(all, collisions...)
		if slices.ContainsFunc(collisions, func(c collision) bool { return c.fails(t.options.Duplicates) }) {
			continue
		}
		for _, o := range own {
			owners[o.object.Hash()] = append(owners[o.object.Hash()], o)
		}
	}
	return all
}

// owner is the first target of a folder that renders an object.
type owner struct {
	object objects.Object
	file   render.File
	target string
}

// inOrderOfDelivery returns the targets that have an object whose hash is in twice: first unchanged targets, then
// targets that were delivered and change, then new targets.
func (t *Tree) inOrderOfDelivery(i int, rendered []renderedTarget, twice map[uint64]bool) (order []int) {
	clusterType := t.Schedule.Placements[i].ClusterType.Name
	ranks := make([]int, len(rendered))
	for n, r := range rendered {
		if r.leftOut || !slices.ContainsFunc(r.objects.hashes, func(h uint64) bool { return twice[h] }) {
			continue
		}
		order = append(order, n)
		switch {
		case t.options.Delivered == nil || t.options.Delivered(clusterType, r.folder.Name) == nil:
			ranks[n] = 2
		case t.options.changes(clusterType, r.folder.Name, r.folder.Hash):
			ranks[n] = 1
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	return order
}

// collideTarget returns the objects that target n renders first (own), and its collisions: objects that an earlier
// target, or target n itself, has already rendered.
func (t *Tree) collideTarget(
	i, n int, name string, twice map[uint64]bool, owners map[uint64][]owner,
) (own []owner, all []collision) {
	clusterType := t.Schedule.Placements[i].ClusterType.Name
	for _, f := range t.renderer.Assignment(context.Background(), i, n, &render.Buffer{}).Files {
		if !holdsObjects(&f) {
			continue
		}
		for _, object := range objects.Scan(nil, f.Content) {
			if !twice[object.Hash()] {
				continue
			}
			earlier := slices.Concat(own, owners[object.Hash()])
			k := slices.IndexFunc(earlier, func(o owner) bool { return o.object.Same(&object) })
			if k < 0 {
				own = append(own, owner{object, f, name})
				continue
			}
			all = append(all, collision{clusterType, name, earlier[k].target, f, earlier[k].file, object.String(), n})
		}
	}
	return own, all
}

// problemsOfObjects returns the faults of the objects of all folders as problems, one for each template that renders
// them. A single problem lists all versions that Flux does not serve.
func (t *Tree) problemsOfObjects(folders []found) (problems problem.Problems) {
	type pair struct {
		by, other *fleet.Template
		self      bool
	}
	all := found{unserved: map[unservedVersion]bool{}}
	strays, pairs := map[*fleet.Template][]string{}, map[pair][]*collision{}
	for _, folder := range folders {
		maps.Copy(all.unserved, folder.unserved)
		all.invalid = append(all.invalid, folder.invalid...)
		for _, s := range folder.strays {
			strays[s.by] = append(strays[s.by], s.line)
		}
		for k := range folder.collisions {
			c := &folder.collisions[k]
			key := pair{c.file.Template, c.other.Template, c.self()}
			pairs[key] = append(pairs[key], c)
		}
	}
	for by, lines := range strays {
		problems = append(problems, fleet.ProblemOf(by, problem.Problem{
			Severity: problem.Warning, Summary: "Rendered objects outside of their namespace",
			Detail: "These objects belong to an assignment and are not in its namespace. Set metadata.namespace to " +
				"{{ .Namespace }}:\n" + problem.IndentedList(lines, problem.MaxListed),
		}))
	}
	for key, collisions := range pairs {
		problems = append(problems, fleet.ProblemOf(key.by, collisionProblem(t.options.Duplicates, key.other, collisions)))
	}
	if len(all.unserved) > 0 {
		problems = append(problems, unservedProblem(all.unserved))
	}
	return append(problems, t.invalidProblems(all.invalid)...)
}

// collisionProblem reports collisions of objects. All of them are between the same two templates, or between two files
// of one target.
func collisionProblem(reaction problem.Reaction, other *fleet.Template, all []*collision) problem.Problem {
	p := problem.Problem{Summary: "Several deployment targets render the same object", Severity: reaction.Severity()}
	advice := fmt.Sprintf("Use names that are unique in the cluster, such as {{ .DeploymentTargetName }} in a "+
		"namespace of "+
		"the reconciler, or {{ .Namespace }}. guardrails.duplicate_objects is %q.", reaction)
	if all[0].self() {
		p.Summary, p.Severity = "A deployment target renders an object twice", problem.Error
		advice = "Remove one of the two, or give them different names."
	}
	by := all[0].file.Template
	templates := fmt.Sprintf("Template %q renders", by.Name)
	if other != by {
		templates = fmt.Sprintf("Templates %q and %q render", other.Name, by.Name)
	}
	lines := lists.Map(all, (*collision).String)
	p.Detail = fmt.Sprintf("%s objects with the same kind, namespace and name. Flux builds the folder of a cluster "+
		"type as "+
		"a whole, and applies nothing of it then. Other reconcilers apply one of the two:\n%s\n%s",
		templates, problem.IndentedList(lines, problem.MaxListed), advice)
	if p.Severity == problem.Error {
		p.Fault, p.Cause = problem.TeamFault, p.Detail
		for _, c := range all {
			p.Affects = append(p.Affects, problem.AffectedTarget{ClusterType: c.clusterType, Name: c.target})
		}
	}
	return p
}

// unservedVersion is a version of Flux objects that Flux no longer serves: see objects.Object.ServedVersion.
type unservedVersion struct{ template, rendered, served string }

// unservedProblem warns of templates that render versions that Flux no longer serves.
func unservedProblem(versions map[unservedVersion]bool) problem.Problem {
	lines := lists.Map(slices.Collect(maps.Keys(versions)), func(v unservedVersion) string {
		return fmt.Sprintf("template %q: %s, now %s", v.template, v.rendered, v.served)
	})
	slices.Sort(lines)
	return problem.Problem{
		Severity: problem.Warning, Summary: "Flux no longer serves this version", Detail: fmt.Sprintf(
			"Flux 2.8 and later reject objects of these versions, and with them the whole folder. Change apiVersion in the "+
				"templates; the release notes of Flux list the few fields that changed their names:\n%s",
			problem.IndentedList(lines, problem.MaxListed)),
	}
}
