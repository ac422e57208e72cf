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
	Place
	BaseDirectory       string // a folder with the objects of the base; empty: the BaseRepo says where they lie
	FollowBase          bool
	FollowRegistrations bool
	Pins                map[string]string
	AllowLocal          bool // as in [Follow]; the control plane itself, its bases and its GitOpsRepo may be local
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
	Objects         []Found // but the Workloads behind registrations
	Layers          []Place // where the objects lie: the environment's, then its bases
	PassedOver      int     // YAML documents that are no Kalypso objects
	Faults          Faults
}

// Found is an object of the fleet with where it was found.
type Found struct {
	fleet.Object
	Layer int    // index into the control plane's layers
	File  string // from the root of the layer's repo; for a folder, from where Terraform runs
	Alone bool   // whether it is the only object of its file
}

// layer is one of the folders that make up a control plane.
type layer struct {
	index      int
	place      Place
	objects    []Found
	bases      []*repoObject
	gitops     []*repoObject
	passedOver int
	faults     Faults
}

// ControlPlane reads a control plane, its bases and its registrations. All that is wrong with any of them is reported.
func (r *Reader) ControlPlane(ctx context.Context, req ControlPlaneRequest) *ControlPlane {
	cp := &ControlPlane{Manifests: map[string]string{}, WorkloadCommits: map[string]string{}, Names: map[fleet.Kind][]string{}}
	var gitops []*repoObject
	next, seen := &req.Place, map[string]bool{}
	for next != nil {
		l := r.layer(ctx, *next, len(cp.Layers))
		if seen[l.place.String()] {
			cp.Faults = append(cp.Faults, Fault{
				Place: l.place, Summary: "BaseRepos in a circle",
				Detail: "The BaseRepos lead back to a place that was read already. Take one of them out:\n  " + circle(cp.Layers, l.place),
			})
			break
		}
		seen[l.place.String()] = true
		cp.add(l)
		gitops = append(gitops, l.gitops...)
		next = cp.base(req, l)
	}
	cp.name(gitops)
	if req.FollowRegistrations {
		cp.follow(ctx, r, req)
	}
	for kind := range cp.Names {
		slices.Sort(cp.Names[kind])
	}
	if total := size(cp.Manifests); total > r.limits.Total {
		cp.Faults = append(cp.Faults, tooMuch(req.Place, total, r.limits.Total))
	}
	cp.Faults.Sort()
	return cp
}

// layer reads one folder.
func (r *Reader) layer(ctx context.Context, place Place, index int) *layer {
	c := r.read(ctx, []Place{place})[0]
	l := &layer{index: index, place: c.place}
	if c.err != nil {
		l.faults = Faults{c.place.fault("", c.err)}
		return l
	}
	l.faults = c.faults("")
	for _, at := range c.files {
		objects, passed, ps := fleet.ParseYAMLWith(controlPlaneKinds, fleet.Origin{Key: at}, c.text[at])
		l.passedOver += passed
		l.faults = append(l.faults, ofProblems(c.place, "", ps)...)
		for _, o := range objects {
			l.take(o, at, len(objects) == 1)
		}
	}
	return l
}

func (l *layer) take(o fleet.Object, file string, alone bool) {
	switch o := o.(type) {
	case *repoObject:
		l.faults = append(l.faults, ofProblems(l.place, "", o.Validate())...)
		o.Origin.Key = l.place.key(file, "")
		if o.kind == KindBaseRepo {
			l.bases = append(l.bases, o)
		} else {
			l.gitops = append(l.gitops, o)
		}
	case *otherObject:
	case *fleet.Config:
		if !o.MayBePlatformConfig() && !o.IsAzureAppConfig() {
			l.passedOver++
			return
		}
		l.objects = append(l.objects, Found{o, l.index, file, alone})
	default:
		l.objects = append(l.objects, Found{o, l.index, file, alone})
	}
}

// add takes in a layer.
func (cp *ControlPlane) add(l *layer) {
	if l.index == 0 {
		cp.Commit = l.place.Commit
	}
	cp.Layers = append(cp.Layers, l.place)
	cp.PassedOver += l.passedOver
	cp.Faults = append(cp.Faults, l.faults...)
	cp.Objects = append(cp.Objects, l.objects...)
	names := map[string]int{} // objects of one name in a file
	for _, o := range l.objects {
		names[o.File+"#"+o.Metadata().Name]++
	}
	for _, o := range l.objects {
		name := o.Metadata().Name
		text, err := fleet.MarshalYAML(o.Object)
		if err != nil {
			cp.Faults = append(cp.Faults, Fault{Place: l.place, File: o.File, Line: o.Metadata().Origin.Line,
				Summary: "The object can't be written as YAML", Detail: fmt.Sprintf("%s %q: %s", o.Kind(), name, fleet.Sentence(err))})
			continue
		}
		var key string
		switch {
		case o.Alone:
			key = l.place.key(o.File, "")
		case names[o.File+"#"+name] > 1:
			key = l.place.key(o.File, string(o.Kind())+"/"+name)
		default:
			key = l.place.key(o.File, name)
		}
		if _, twice := cp.Manifests[key]; twice {
			cp.Faults = append(cp.Faults, Fault{Place: l.place, File: o.File, Line: o.Metadata().Origin.Line, Summary: "Duplicate object",
				Detail: fmt.Sprintf("A %s named %q is given twice in this file. Rename or remove one of them.", o.Kind(), name)})
			continue
		}
		cp.Manifests[key] = text
		cp.Names[o.Kind()] = append(cp.Names[o.Kind()], name)
	}
}

// base is where the base of a layer lies; nil where there is none to follow.
func (cp *ControlPlane) base(req ControlPlaneRequest, l *layer) *Place {
	if len(l.bases) > 1 {
		cp.several(l.place, l.bases, "An environment has one BaseRepo, which says what was promoted to it. Remove all but one.")
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
		cp.Faults = append(cp.Faults, Fault{
			Place: l.place, Summary: "Folders in each other",
			Detail: fmt.Sprintf("base_directory is %s, and one of the two folders lies in the other, so that its objects would be there twice. Put them beside each other.", req.BaseDirectory),
		})
		return nil
	case l.index == 0 && req.BaseDirectory != "":
		return &Place{Directory: req.BaseDirectory}
	case base == nil || len(base.Validate()) > 0:
		return nil
	}
	return &Place{Repo: base.repo, Branch: base.branch, Commit: base.commit, Path: base.path, NamedBy: base.Origin.String()}
}

// name says where the tree goes.
func (cp *ControlPlane) name(all []*repoObject) {
	switch {
	case len(all) > 1:
		cp.several(cp.Layers[0], all, "An environment has one GitOpsRepo, which its tree goes to. Remove all but one.")
	case len(all) == 1 && all[0].path == "":
		cp.GitOpsRepo = &GitOpsRepo{all[0].repo, all[0].branch, "."}
	case len(all) == 1:
		cp.GitOpsRepo = &GitOpsRepo{all[0].repo, all[0].branch, all[0].path}
	}
}

func (cp *ControlPlane) several(place Place, all []*repoObject, advice string) {
	text := ""
	for _, o := range all {
		text += fmt.Sprintf("\n  %q, %s", o.Name, o.Origin)
	}
	cp.Faults = append(cp.Faults, Fault{
		Place: place, Summary: fmt.Sprintf("%d %ss", len(all), all[0].kind), Detail: advice + " There are:" + text,
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
	f := Follow{Pins: req.Pins, AllowLocal: req.AllowLocal}
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
			cp.Faults = append(cp.Faults, Fault{Place: req.Place, Summary: "Duplicate object", Detail: fmt.Sprintf(
				"The Workload %s is found through a registration, and is an object of the control plane too. Name its folder in %s of the control plane.", key, ignoreFile)})
		}
		cp.Manifests[key] = workloads.Manifests[key]
	}
	cp.WorkloadCommits = workloads.Commits
	cp.Names[fleet.KindWorkload] = append(cp.Names[fleet.KindWorkload], workloads.Names...)
	cp.Faults = append(cp.Faults, workloads.Faults...)
}

func circle(layers []Place, again Place) string {
	text := ""
	for _, l := range layers {
		text += l.String() + "\n  → "
	}
	return text + again.String()
}

func size(manifests map[string]string) (total int64) {
	for key, text := range manifests {
		total += int64(len(key) + len(text))
	}
	return total
}

func tooMuch(place Place, total, most int64) Fault {
	return Fault{Place: place, Summary: "Too much to hand on",
		Detail: fmt.Sprintf("The manifests come to %d bytes, more than the %d that are handed on. Split the fleet by path, into several renderings.", total, most)}
}
