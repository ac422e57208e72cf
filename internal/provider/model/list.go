package model

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewList returns the list of the resources of a kind: the objects in Kalypso YAML, as resources that don't exist yet.
func NewList(m *model) func() list.ListResource {
	return func() list.ListResource {
		return resources.NewList(resources.List{
			Name: m.name, Arguments: listArguments, Check: checkList, Find: m.list,
			Description: "Lists the objects of the kind " + string(m.Kind) + " in Kalypso YAML, as resources that an " +
				"import by identity creates. A document that can't be read causes a warning; the other objects are listed. The " +
				"display name is the name that `import_blocks` of `kalypso_control_plane` gives the resource.",
		})
	}
}

var listArguments = map[string]schema.Attribute{
	tfvalue.ManifestsAttribute: schemas.OptionalStrings("Kalypso YAML by its origin: the path of a file, relative to " +
		"Terraform's working directory, or a key of `manifests` of `kalypso_control_plane`. This or `repo` is required. An " +
		"import reads the file again; if the key names a branch, at the branch's head."),
	"repo": schemas.OptionalString("URL of the control plane's repo. The objects of the base that its BaseRepo names " +
		"are listed too. Workloads behind registrations are not: they belong to the teams."),
	"branch": schemas.OptionalString(
		"Branch of the repo, whose head is read. Required with `repo`. An import reads the same commit."),
	"path": schemas.OptionalString("Folder of the repo. The default is the root."),
}

// checkList reports contradictory arguments.
func checkList(r resources.Reading) {
	_, known := r.Argument(tfvalue.ManifestsAttribute)
	given := known || r.IsUnknown(tfvalue.ManifestsAttribute)
	repo, branch := r.String("repo"), r.String("branch")
	switch {
	case !given && repo == "":
		r.Report("Missing control plane", "Neither manifests nor repo is set. Set repo and branch for a control plane in "+
			"Git, or manifests for YAML at hand.")
	case known && repo != "" && !unknown.Is(repo):
		r.Report("Two control planes", "Both manifests and repo are set. Remove one of them.", problem.Attr("repo"))
	case repo != "" && branch == "":
		r.Report("Missing branch", "Set branch: the list reads its head.", problem.Attr("branch"))
	}
	r.Check("branch", "Invalid branch name", gitbranch.CheckName)
	r.Check("path", "Invalid path", source.CheckPath)
	for _, name := range []string{"branch", "path"} {
		if value := r.String(name); repo == "" && value != "" && known {
			r.Report("Conflicting arguments",
				name+" is for a control plane in Git. Remove it, or set repo instead of manifests.", problem.Attr(name))
		}
	}
}

// list adds the objects of the kind to the results.
func (m *model) list(ctx context.Context, r resources.Reading, results *resources.ListResults) {
	repo, texts := r.String("repo"), r.StringMap(tfvalue.ManifestsAttribute)
	if r.Invalid() {
		return
	}
	found := &foundObjects{model: m, results: results, addresses: addresses{}, listed: map[origin.Origin]bool{}}
	if repo == "" {
		found.addManifests(ctx, texts)
		return
	}
	found.addControlPlane(ctx, r.Data, source.Location{Repo: repo, Branch: r.String("branch"), Path: r.String("path")})
}

// foundObjects adds the objects of a kind to the results, as they are found.
type foundObjects struct {
	model     *model
	results   *resources.ListResults
	addresses addresses
	listed    map[origin.Origin]bool
}

// addManifests adds the objects of YAML texts, by their keys, and stops when Terraform wants no more.
func (f *foundObjects) addManifests(ctx context.Context, texts map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		objects, _, ps := fleetyaml.Parse(ctx, problem.Origin{Key: key}, texts[key])
		var diags diag.Diagnostics
		tfvalue.AppendProblems(&diags, ps)
		if !f.results.Warn(diags) {
			return
		}
		for _, o := range objects {
			if !f.add(ctx, source.FoundObject{Object: o, File: key}, manifestOrigin(key, o)) {
				return
			}
		}
	}
}

// manifestOrigin returns the origin of an object from the key of the YAML text that contains it.
func manifestOrigin(key string, o fleet.Object) origin.Origin {
	at, ok := origin.Parse(key)
	if !ok {
		at.Path = key
	}
	file := at.File()
	for _, suffix := range []string{string(o.Kind()) + "/" + o.Metadata().Name, o.Metadata().Name} {
		file = strings.TrimSuffix(file, "#"+suffix)
	}
	return origin.Origin{Repo: at.Repo, Branch: at.Branch, Commit: at.Commit, Path: file}
}

// addControlPlane adds the objects of a control plane and of its bases.
func (f *foundObjects) addControlPlane(ctx context.Context, data *configuration.Data, at source.Location) {
	found := data.Sources.ControlPlane(ctx, source.ControlPlaneRequest{
		Location: at, FollowBase: true, Follow: source.FollowOptions{AllowLocal: data.AllowLocal},
	})
	var diags diag.Diagnostics
	schemas.AppendSourceProblems(&diags, found.Problems)
	pass := f.results.Warn
	if len(found.Objects) == 0 { // an error would discard the results
		pass = f.results.Fail
	}
	if !pass(diags) {
		return
	}
	for _, o := range found.Objects {
		layer := found.Layers[o.Layer]
		from := origin.Origin{Repo: layer.Repo, Branch: layer.Branch, Commit: layer.Commit, Path: o.File}
		if !f.add(ctx, o, from) {
			return
		}
	}
}

// add adds an object if it is of the kind.
func (f *foundObjects) add(ctx context.Context, o source.FoundObject, at origin.Origin) bool {
	if o.Kind() != f.model.Kind {
		return true
	}
	var diags diag.Diagnostics
	name := o.Metadata().Name
	at.Name = name // the name distinguishes objects in the same file
	if f.listed[at] {
		diags.AddWarning("Duplicate object", printable.Text(fmt.Sprintf(
			"%s contains several objects of kind %s named %q. One is listed. Rename or remove the others.", at.Path,
			f.model.Kind, name)))
		return f.results.Warn(diags)
	}
	f.listed[at] = true
	found, err := f.addresses.importable(f.model, o)
	if err != nil {
		diags.AddWarning(
			"The object can only be written in YAML",
			printable.Text(fmt.Sprintf("%s %q of %s: %s", f.model.Kind, name, at.Path,
				problem.Sentence(err))),
		)
		return f.results.Warn(diags)
	}
	_, label, _ := strings.Cut(found.address, ".")
	identity := map[string]string{
		"name": name, "file": at.Path, "repo": at.Repo, "branch": at.Branch, "commit": at.Commit,
	}
	return f.results.Add(ctx, label, identity, func(resource *tfsdk.Resource, diags *diag.Diagnostics) {
		if state := f.model.state(found.Object, diags); !diags.HasError() {
			diags.Append(resource.Set(ctx, state)...)
		}
	})
}
