package source

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// ControlPlaneRequest says which control plane to read, and what of it to follow.
type ControlPlaneRequest struct {
	Location
	BaseDirectory       string // a folder with the objects of the base; empty: the BaseRepo says where they lie
	FollowBase          bool
	FollowRegistrations bool
	Pins                map[string]string
	AllowLocal          bool // as in [FollowOptions]; the control plane itself, its bases and its GitOpsRepo may be local
	// LastGood are the origins that were last delivered to the GitOps repo of the control plane; nil: what is broken is
	// an error.
	LastGood func(context.Context, GitOpsRepo) ([]Origin, error)
}

// GitOpsRepo is where an environment's tree goes, as its control plane says.
type GitOpsRepo struct{ Repo, Branch, Path string }

// ControlPlane is what was read of a control plane.
type ControlPlane struct {
	Manifests       map[string]string // repo@commit:path[#name], or the path of a file → document
	Commit          string            // empty: it is a folder
	BaseCommit      string            // that its BaseRepo pins; empty: none
	GitOpsRepo      *GitOpsRepo       // nil: it names none
	WorkloadCommits map[string]string // as in [Workloads]
	Names           map[fleet.Kind][]string
	Objects         []FoundObject // but the Workloads behind registrations
	Layers          []Location    // where the objects lie: the environment's, then its bases
	Skipped         int           // YAML documents that are no Kalypso objects
	Problems        Problems
}

// FoundObject is an object of the fleet with where it was found.
type FoundObject struct {
	fleet.Object
	Layer      int    // index into the control plane's layers
	File       string // from the root of the layer's repo; for a folder, from where Terraform runs
	OnlyInFile bool   // whether it is the only object of its file
}

// layer is one of the folders that make up a control plane.
type layer struct {
	index    int
	location Location
	objects  []FoundObject
	bases    []*repoObject
	gitops   []*repoObject
	skipped  int
	problems Problems
}

// ControlPlane reads a control plane, its bases and its registrations. All that is wrong with any of them is reported.
func (r *Reader) ControlPlane(ctx context.Context, req ControlPlaneRequest) *ControlPlane {
	cp := &ControlPlane{Manifests: map[string]string{}, WorkloadCommits: map[string]string{}, Names: map[fleet.Kind][]string{}}
	var gitops []*repoObject
	next, seen := &req.Location, map[string]bool{}
	for next != nil {
		l := r.layer(ctx, *next, len(cp.Layers))
		if seen[l.location.String()] {
			cp.Problems = append(cp.Problems, Problem{
				Location: l.location, Summary: "BaseRepos in a circle",
				Detail: "The BaseRepos lead back to a place that was read already. Take one of them out:\n  " + formatCycle(cp.Layers, l.location),
			})
			break
		}
		seen[l.location.String()] = true
		cp.addLayer(l)
		gitops = append(gitops, l.gitops...)
		next = cp.base(req, l)
	}
	cp.setGitOpsRepo(gitops)
	if req.FollowRegistrations {
		cp.follow(ctx, r, req)
	}
	for kind := range cp.Names {
		slices.Sort(cp.Names[kind])
	}
	if total := totalSize(cp.Manifests); total > r.limits.Total {
		cp.Problems = append(cp.Problems, totalTooLarge(req.Location, total, r.limits.Total))
	}
	cp.Problems.Sort()
	return cp
}

// layer reads one folder.
func (r *Reader) layer(ctx context.Context, place Location, index int) *layer {
	c := r.read(ctx, []Location{place})[0]
	l := &layer{index: index, location: c.location}
	if c.err != nil {
		l.problems = Problems{c.location.problem("", c.err)}
		return l
	}
	l.problems = c.problems("")
	for _, at := range c.files {
		objects, passed, ps := fleet.ParseYAMLWith(controlPlaneKinds, fleet.Origin{Key: at}, c.text[at])
		l.skipped += passed
		l.problems = append(l.problems, fromFleetProblems(c.location, "", ps)...)
		for _, o := range objects {
			l.addObject(o, at, len(objects) == 1)
		}
	}
	return l
}

func (l *layer) addObject(o fleet.Object, file string, alone bool) {
	switch o := o.(type) {
	case *repoObject:
		l.problems = append(l.problems, fromFleetProblems(l.location, "", o.Validate())...)
		o.Origin.Key = l.location.key(file, "")
		if o.kind == KindBaseRepo {
			l.bases = append(l.bases, o)
		} else {
			l.gitops = append(l.gitops, o)
		}
	case *operatorObject:
	case *fleet.Config:
		if !o.MayBePlatformConfig() && !o.IsAzureAppConfig() {
			l.skipped++
			return
		}
		l.objects = append(l.objects, FoundObject{o, l.index, file, alone})
	default:
		l.objects = append(l.objects, FoundObject{o, l.index, file, alone})
	}
}

// addLayer takes in a layer.
func (cp *ControlPlane) addLayer(l *layer) {
	if l.index == 0 {
		cp.Commit = l.location.Commit
	}
	cp.Layers = append(cp.Layers, l.location)
	cp.Skipped += l.skipped
	cp.Problems = append(cp.Problems, l.problems...)
	cp.Objects = append(cp.Objects, l.objects...)
	names := map[string]int{} // objects of one name in a file
	for _, o := range l.objects {
		names[o.File+"#"+o.Metadata().Name]++
	}
	for _, o := range l.objects {
		name := o.Metadata().Name
		text, err := fleet.MarshalYAML(o.Object)
		if err != nil {
			cp.Problems = append(cp.Problems, Problem{Location: l.location, File: o.File, Line: o.Metadata().Origin.Line,
				Summary: "The object can't be written as YAML", Detail: fmt.Sprintf("%s %q: %s", o.Kind(), name, fleet.Sentence(err))})
			continue
		}
		var key string
		switch {
		case o.OnlyInFile:
			key = l.location.key(o.File, "")
		case names[o.File+"#"+name] > 1:
			key = l.location.key(o.File, string(o.Kind())+"/"+name)
		default:
			key = l.location.key(o.File, name)
		}
		if _, twice := cp.Manifests[key]; twice {
			cp.Problems = append(cp.Problems, Problem{Location: l.location, File: o.File, Line: o.Metadata().Origin.Line, Summary: "Duplicate object",
				Detail: fmt.Sprintf("A %s named %q is given twice in this file. Rename or remove one of them.", o.Kind(), name)})
			continue
		}
		cp.Manifests[key] = text
		cp.Names[o.Kind()] = append(cp.Names[o.Kind()], name)
	}
}

// base is where the base of a layer lies; nil where there is none to follow.
func (cp *ControlPlane) base(req ControlPlaneRequest, l *layer) *Location {
	if len(l.bases) > 1 {
		cp.reportMultiple(l.location, l.bases, "An environment has one BaseRepo, which says what was promoted to it. Remove all but one.")
	}
	var base *repoObject
	if len(l.bases) > 0 {
		base = l.bases[0]
	}
	if l.index == 0 && base != nil {
		cp.BaseCommit = base.commit
	}
	switch {
	case !req.FollowBase || len(l.bases) > 1:
		return nil
	case l.index == 0 && req.BaseDirectory != "" && (within(req.BaseDirectory, req.Directory) || within(req.Directory, req.BaseDirectory)):
		cp.Problems = append(cp.Problems, Problem{
			Location: l.location, Summary: "Folders in each other",
			Detail: fmt.Sprintf("base_directory is %s, and one of the two folders lies in the other, so that its objects would be there twice. Put them beside each other.", req.BaseDirectory),
		})
		return nil
	case l.index == 0 && req.BaseDirectory != "":
		return &Location{Directory: req.BaseDirectory}
	case base == nil || len(base.Validate()) > 0:
		return nil
	}
	return &Location{Repo: base.repo, Branch: base.branch, Commit: base.commit, Path: base.path, NamedBy: base.Origin.String()}
}

// setGitOpsRepo says where the tree goes.
func (cp *ControlPlane) setGitOpsRepo(all []*repoObject) {
	switch {
	case len(all) > 1:
		cp.reportMultiple(cp.Layers[0], all, "An environment has one GitOpsRepo, which its tree goes to. Remove all but one.")
	case len(all) == 1 && all[0].path == "":
		cp.GitOpsRepo = &GitOpsRepo{all[0].repo, all[0].branch, "."}
	case len(all) == 1:
		cp.GitOpsRepo = &GitOpsRepo{all[0].repo, all[0].branch, all[0].path}
	}
}

func (cp *ControlPlane) reportMultiple(place Location, all []*repoObject, advice string) {
	text := ""
	for _, o := range all {
		text += fmt.Sprintf("\n  %q, %s", o.Name, o.Origin)
	}
	cp.Problems = append(cp.Problems, Problem{
		Location: place, Summary: fmt.Sprintf("%d %ss", len(all), all[0].kind), Detail: advice + " There are:" + text,
	})
}

var errNoGitOpsRepo = errors.New("the control plane has no GitOpsRepo, which would name the branch with the last delivery")

// follow reads the Workloads behind the registrations.
func (cp *ControlPlane) follow(ctx context.Context, r *Reader, req ControlPlaneRequest) {
	var registrations []*fleet.WorkloadRegistration
	for _, o := range cp.Objects {
		if registration, ok := o.Object.(*fleet.WorkloadRegistration); ok {
			at := *registration
			at.Origin.Key = cp.Layers[o.Layer].key(o.File, "")
			registrations = append(registrations, &at)
		}
	}
	f := FollowOptions{Pins: req.Pins, AllowLocal: req.AllowLocal}
	if req.LastGood != nil {
		f.LastGood = func(ctx context.Context) ([]Origin, error) {
			if cp.GitOpsRepo == nil {
				return nil, errNoGitOpsRepo
			}
			return req.LastGood(ctx, *cp.GitOpsRepo)
		}
	}
	workloads := r.Workloads(ctx, registrations, f)
	for _, key := range sortedKeys(workloads.Manifests) {
		if _, twice := cp.Manifests[key]; twice {
			cp.Problems = append(cp.Problems, Problem{Location: req.Location, Summary: "Duplicate object", Detail: fmt.Sprintf(
				"The Workload %s is found through a registration, and is an object of the control plane too. Name its folder in %s of the control plane.", key, ignoreFile)})
		}
		cp.Manifests[key] = workloads.Manifests[key]
	}
	cp.WorkloadCommits = workloads.Commits
	cp.Names[fleet.KindWorkload] = append(cp.Names[fleet.KindWorkload], workloads.Names...)
	cp.Problems = append(cp.Problems, workloads.Problems...)
}

func formatCycle(layers []Location, again Location) string {
	text := ""
	for _, l := range layers {
		text += l.String() + "\n  → "
	}
	return text + again.String()
}

func totalSize(manifests map[string]string) (total int64) {
	for key, text := range manifests {
		total += int64(len(key) + len(text))
	}
	return total
}

func totalTooLarge(place Location, total, most int64) Problem {
	return Problem{Location: place, Summary: "Too much to hand on",
		Detail: fmt.Sprintf("The manifests come to %d bytes, more than the %d that are handed on. Split the fleet by path, into several renderings.", total, most)}
}
