package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// ControlPlaneRequest names the control plane to read, and the references to follow from it.
type ControlPlaneRequest struct {
	Location
	BaseDirectory       string // a folder with the objects of the base; empty: the BaseRepo names it
	FollowBase          bool
	FollowRegistrations bool
	// If Promotion.Commit is set, it replaces the commit that the BaseRepo pins. An empty Promotion.Repo or Branch means
	// the BaseRepo's or, without a BaseRepo, the control plane's.
	Promotion promotion.Promotion
	// Follow configures how the registrations are followed, to the control plane's own GitOpsRepo. The control plane, its
	// bases and its GitOpsRepo may always be local. The signatures of the commits of the control plane and of its bases
	// are checked too. If the promotion says why people accept its commit unverified, that commit needs no signature.
	Follow FollowOptions
}

// ControlPlane is the content of a control plane.
type ControlPlane struct {
	Manifests       map[string]string // repo@branch:path[#name], or the path of a file → document; see [origin.Origin]
	Sources         origin.Sources
	Verified        map[string]string       // commit → its signer, of the commits that were verified
	Commit          string                  // empty for a folder
	BaseCommit      string                  // pinned by its BaseRepo; empty: none
	GitOpsRepo      *GitOpsRepo             // nil: none
	WorkloadCommits map[string]string       // name of a registration → the commit read
	Names           map[fleet.Kind][]string // sorted
	Objects         []FoundObject           // except the Workloads of registrations
	Layers          []Location              // the locations read: the environment's, then its bases
	Skipped         int                     // YAML documents that are not Kalypso objects
	Problems        Problems

	bases  []*operatorObject // the BaseRepos of the last layer
	gitops []*operatorObject // the GitOpsRepos of all layers
}

// FoundObject is an object of the fleet and the file it was found in.
type FoundObject struct {
	fleet.Object
	Layer      int    // index into the control plane's layers
	File       string // relative to the layer's repo; for a folder, to the working directory
	OnlyInFile bool   // the file contains no other object
}

// ControlPlane reads a control plane, its bases and its registrations. It reports the problems of all of them.
func (r *Reader) ControlPlane(ctx context.Context, req ControlPlaneRequest) *ControlPlane {
	cp := newControlPlane()
	seen := map[string]bool{}
	for next := &req.Location; next != nil; next = cp.base(req) {
		next.Verify = req.Follow.Verify
		if len(cp.Layers) == 1 && req.Promotion.Unverified != "" {
			next.Verify = nil
		}
		c := r.read(ctx, []Location{*next})[0]
		if seen[c.location.String()] {
			cp.report(c.location, "BaseRepo cycle", "The BaseRepos form a cycle. Remove one of them:\n  %s",
				strings.Join(lists.Map(append(cp.Layers, c.location), Location.String), "\n  → "))
			break
		}
		seen[c.location.String()] = true
		cp.addLayer(ctx, c)
	}
	cp.setGitOpsRepo()
	req.Follow.GitOpsRepo = cp.GitOpsRepo
	if cp.GitOpsRepo == nil { // no last delivery is known
		req.Follow.Delivered = nil
		if req.Follow.LastGood != nil {
			req.Follow.LastGood = func(context.Context, *GitOpsRepo) ([]origin.Origin, error) { return nil, errNoGitOpsRepo }
		}
	}
	cp.verify(ctx, r, req)
	var registered []*registrationResult
	if req.FollowRegistrations {
		registered = cp.follow(ctx, r, req)
	}
	cp.setSources(append(cp.locations(), locationsOf(registered)...))
	cp.addManifests()
	cp.addWorkloads(req.Location, registered)
	return cp.finish(req.Location, r.limits.Total)
}

func newControlPlane() *ControlPlane {
	return &ControlPlane{
		Manifests: map[string]string{}, Sources: origin.Sources{}, Verified: map[string]string{},
		WorkloadCommits: map[string]string{}, Names: map[fleet.Kind][]string{},
	}
}

// setSources distinguishes the locations that were read, and sets their commits and the signers of these.
func (cp *ControlPlane) setSources(locations []*Location) {
	disambiguate(locations)
	for _, p := range locations {
		if p.Commit != "" {
			cp.Sources[origin.Location(p.origin(), p.Path)] = p.Commit
		}
		if p.Signer != "" {
			cp.Verified[p.Commit] = p.Signer
		}
	}
}

// finish sorts the names and problems. It reports manifests that have more bytes than the limit.
func (cp *ControlPlane) finish(at Location, limit int64) *ControlPlane {
	for kind := range cp.Names {
		slices.Sort(cp.Names[kind])
	}
	total := int64(0)
	for key, text := range cp.Manifests {
		total += int64(len(key) + len(text))
	}
	if total > limit {
		cp.report(at, "Manifests too large", "The manifests have %d bytes in total; at most %d are allowed. Split the fleet "+
			"into several renderings, one path each.", total, limit)
	}
	cp.Problems.Sort()
	return cp
}

// addLayer adds a folder that was read.
func (cp *ControlPlane) addLayer(ctx context.Context, c *contents) {
	if len(cp.Layers) == 0 {
		cp.Commit = c.location.Commit
	}
	cp.Layers, cp.bases = append(cp.Layers, c.location), nil
	if c.err != nil {
		cp.Problems = append(cp.Problems, c.location.problem("", c.err))
		return
	}
	cp.Problems = append(cp.Problems, c.problems("")...)
	for _, at := range c.files {
		objects, passed, ps := fleetyaml.ParseWith(ctx, controlPlaneKinds, problem.Origin{Key: at}, c.text[at])
		if err := ctx.Err(); err != nil {
			cp.Problems = append(cp.Problems, c.location.problem("", err))
			return
		}
		cp.Skipped += passed
		cp.Problems = append(cp.Problems, fromFleetProblems(c.location, "", ps)...)
		for _, o := range objects {
			cp.addObject(FoundObject{o, len(cp.Layers) - 1, at, len(objects) == 1})
		}
	}
}

// addObject adds an object of the last layer.
func (cp *ControlPlane) addObject(found FoundObject) {
	at := cp.Layers[found.Layer]
	switch o := found.Object.(type) {
	case *operatorObject:
		switch o.kind {
		case KindBaseRepo:
			cp.bases = append(cp.bases, o)
		case KindGitOpsRepo:
			cp.gitops = append(cp.gitops, o)
		default:
			return
		}
		cp.Problems = append(cp.Problems, fromFleetProblems(at, "", o.Validate())...)
		o.Origin.Key = at.key(found.File, "")
		return
	case *fleet.Config:
		if !o.MayBePlatformConfig() && !o.IsAzureAppConfig() {
			cp.Skipped++
			return
		}
	}
	cp.Objects = append(cp.Objects, found)
}

// locations returns the layers that are in repos.
func (cp *ControlPlane) locations() []*Location {
	var all []*Location
	for i := range cp.Layers {
		if cp.Layers[i].Directory == "" {
			all = append(all, &cp.Layers[i])
		}
	}
	return all
}

// addManifests writes the objects of the layers, by keys that distinguish their locations.
func (cp *ControlPlane) addManifests() {
	type named struct {
		layer      int
		file, name string
	}
	names := map[named]int{} // objects of one name in a file
	for _, o := range cp.Objects {
		names[named{o.Layer, o.File, o.Metadata().Name}]++
	}
	for _, o := range cp.Objects {
		name, at := o.Metadata().Name, cp.Layers[o.Layer]
		fail := func(summary, detail string) {
			cp.Problems = append(cp.Problems, Problem{
				Location: at, File: o.File, Line: o.Metadata().Origin.Line, Summary: summary, Detail: detail,
			})
		}
		text, err := fleetyaml.Marshal(o.Object)
		if err != nil {
			fail("Object can't be written as YAML", fmt.Sprintf("%s %q: %s", o.Kind(), name, problem.Sentence(err)))
			continue
		}
		var key string
		switch {
		case o.OnlyInFile:
			key = at.key(o.File, "")
		case names[named{o.Layer, o.File, name}] > 1:
			key = at.key(o.File, string(o.Kind())+"/"+name)
		default:
			key = at.key(o.File, name)
		}
		if _, twice := cp.Manifests[key]; twice {
			fail("Duplicate object",
				fmt.Sprintf("This file defines %s %q twice. Rename or remove one of them.", o.Kind(), name))
			continue
		}
		cp.Manifests[key] = text
		cp.Names[o.Kind()] = append(cp.Names[o.Kind()], name)
	}
}

// base returns the location of the last layer's base, or nil if there is none to follow.
func (cp *ControlPlane) base(req ControlPlaneRequest) *Location {
	first, here := len(cp.Layers) == 1, cp.Layers[len(cp.Layers)-1]
	var base *operatorObject
	if len(cp.bases) > 0 {
		base = cp.bases[0]
	}
	if len(cp.bases) > 1 {
		cp.reportMultiple(here, cp.bases,
			"An environment has one BaseRepo, which names the promoted commit. Remove all but one.")
	}
	promoted := ""
	if first {
		if base != nil {
			cp.BaseCommit = base.spec.Commit
		}
		promoted = req.Promotion.Commit
		if promoted != "" {
			cp.BaseCommit = promoted
		}
	}
	switch {
	case !req.FollowBase || len(cp.bases) > 1:
		return nil
	case first && req.BaseDirectory != "" &&
		(within(req.BaseDirectory, req.Directory) || within(req.Directory, req.BaseDirectory)):
		cp.report(here, "Nested folders", "base_directory is %s, but one of the two folders contains the other, so objects "+
			"would be read twice. Move one of them out of the other.", req.BaseDirectory)
		return nil
	case first && req.BaseDirectory != "":
		return &Location{Directory: req.BaseDirectory}
	case base == nil && promoted != "":
		return cp.promotedBase(req)
	case base == nil || len(base.Validate()) > 0:
		return nil
	case promoted != "" && req.Promotion.Repo != "" && !giturl.Same(req.Promotion.Repo, base.spec.Repo):
		cp.report(here, "Promotion from another repo", "The BaseRepo %q names the repo %s, and the promotion chose a commit "+
			"of %s. Make both the same repo.", base.Name, base.spec.Repo, req.Promotion.Repo)
		return nil
	}
	at := &Location{
		Repo: base.spec.Repo, Branch: base.spec.Branch, Commit: base.spec.Commit, Path: base.spec.Path,
		NamedBy: base.Origin.String(), name: base.Name,
	}
	if promoted != "" {
		at.Commit, at.NamedBy = promoted, fmt.Sprintf("%s; the repo and the path: %s", promotedBy(req.Promotion), at.NamedBy)
	}
	return at
}

// promotedBy names the promotion as the origin of a commit.
func promotedBy(p promotion.Promotion) string {
	if p.Decision == "" {
		return "the argument promotion"
	}
	return fmt.Sprintf("the argument promotion, whose decision is %q", p.Decision)
}

// promotedBase returns the location of a promoted base without a BaseRepo: the same folder of the control plane's own
// repo.
func (cp *ControlPlane) promotedBase(req ControlPlaneRequest) *Location {
	if req.Repo == "" {
		cp.report(req.Location, "Missing BaseRepo", "promotion chooses the commit of the base, but the folder contains no "+
			"BaseRepo that names the base's repo. Add one, or remove promotion.")
		return nil
	}
	return &Location{
		Repo: req.Repo, Branch: req.Promotion.Branch, Commit: req.Promotion.Commit, Path: req.Path,
		NamedBy: promotedBy(req.Promotion),
	}
}

// setGitOpsRepo sets the destination of the tree.
func (cp *ControlPlane) setGitOpsRepo() {
	if len(cp.gitops) == 1 {
		at := cp.gitops[0].spec
		cp.GitOpsRepo = &GitOpsRepo{at.Repo, at.Branch, cmp.Or(at.Path, ".")}
	} else if len(cp.gitops) > 1 {
		cp.reportMultiple(cp.Layers[0], cp.gitops,
			"An environment has one GitOpsRepo, the repo its tree is written to. Remove all but one.")
	}
}

func (cp *ControlPlane) reportMultiple(location Location, all []*operatorObject, advice string) {
	text := ""
	for _, o := range all {
		text += fmt.Sprintf("\n  %q, %s", o.Name, o.Origin)
	}
	cp.report(location, fmt.Sprintf("%d %ss", len(all), all[0].kind), "%s Found:%s", advice, text)
}

// report adds an error of a location.
func (cp *ControlPlane) report(at Location, summary, format string, values ...any) {
	cp.Problems = append(cp.Problems, Problem{Location: at, Summary: summary, Detail: fmt.Sprintf(format, values...)})
}

var errNoGitOpsRepo = errors.New("the control plane has no GitOpsRepo, so the branch of the last delivery is unknown")

// follow reads the registrations.
func (cp *ControlPlane) follow(ctx context.Context, r *Reader, req ControlPlaneRequest) []*registrationResult {
	var registrations []*fleet.WorkloadRegistration
	for _, o := range cp.Objects {
		if registration, ok := o.Object.(*fleet.WorkloadRegistration); ok {
			at := *registration
			at.Origin.Key = cp.Layers[o.Layer].key(o.File, "")
			registrations = append(registrations, &at)
		}
	}
	return r.follow(ctx, registrations, req.Follow)
}

// verify checks the signatures of the layers' commits since the last delivery. It warns of a promoted base that people
// accepted without a signature.
func (cp *ControlPlane) verify(ctx context.Context, r *Reader, req ControlPlaneRequest) {
	if req.Follow.Verify == nil || cp.Problems.HasErrors() {
		return
	}
	if req.Follow.Verify.History && cp.GitOpsRepo == nil {
		cp.Problems = append(cp.Problems, Problem{
			Severity: problem.Warning, Location: req.Location, Summary: "History not verified",
			Detail: "mode = \"history\" verifies the commits since the last delivery, but without a GitOpsRepo in the " +
				"control plane, the location of the last delivery is unknown. Only the commits that are read are verified. Add " +
				"a GitOpsRepo.",
		})
	}
	for i, err := range r.verifyHistory(ctx, cp.Layers, req.Follow) {
		if err != nil {
			cp.Problems = append(cp.Problems, cp.Layers[i].problem("", err))
		}
	}
	if why := req.Promotion.Unverified; why != "" && len(cp.Layers) > 1 {
		cp.Problems = append(cp.Problems, Problem{
			Severity: problem.Warning, Location: cp.Layers[1], Summary: "Promoted commit not verified",
			Detail: fmt.Sprintf("The promotion uses this commit, although %s.", why),
		})
	}
}
