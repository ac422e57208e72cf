package provider

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
)

// ImportState implements resource.ResourceWithImportState. The ID is the path of a Kalypso YAML file, relative to
// Terraform's working directory, followed by #name if the file contains several objects of the kind.
func (r *modelResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	id := req.ID
	if given := modelIdentity.imported(ctx, req, &resp.Diagnostics); given != nil {
		if id = given["file"]; given["name"] != "" {
			id += "#" + given["name"]
		}
	}
	found, err := r.find(ctx, id)
	if err != nil {
		resp.Diagnostics.AddError("Cannot import "+id, printable.Text(err.Error()))
		return
	}
	arguments := r.values(found)
	// The manifest is computed from the arguments, as in every plan.
	o, ps := r.object(problem.Origin{}, types.ObjectValueMust(r.argumentTypes(), arguments))
	if err := ps.Err(); err != nil {
		resp.Diagnostics.AddError("Cannot import "+id, printable.Text(err.Error()))
		return
	}
	manifest := r.manifest(o, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, r.withManifest(arguments, manifest))...)
	modelIdentity.set(ctx, &resp.State, resp.Identity, &resp.Diagnostics)
}

// find reads the object of the kind that an import ID names.
func (m *model) find(ctx context.Context, id string) (fleet.Object, error) {
	file, name, text, err := readImport(id)
	if err != nil {
		return nil, err
	}
	// Errors in other documents of the file don't matter if the object is found.
	objects, _, ps := fleet.ParseYAML(ctx, problem.Origin{Key: file}, text)
	broken := ps.Err()
	ofKind := slices.DeleteFunc(slices.Clone(objects), func(o fleet.Object) bool { return o.Kind() != m.kind })
	candidates := ofKind
	if name != "" {
		candidates = slices.DeleteFunc(slices.Clone(ofKind), func(o fleet.Object) bool { return o.Metadata().Name != name })
	}
	switch {
	case len(candidates) == 0 && broken != nil:
		return nil, broken
	case len(ofKind) == 0:
		return nil, fmt.Errorf("%s contains no %s. It contains: %s", file, m.kind, listed(objects))
	case len(candidates) == 0:
		return nil, fmt.Errorf("%s contains no %s named %q. It contains: %s", file, m.kind, name, listed(ofKind))
	case len(candidates) > 1 && name != "":
		return nil, fmt.Errorf("%s contains %d objects of kind %s named %q. Remove all but one", file, len(candidates),
			m.kind, name)
	case len(candidates) > 1:
		return nil, fmt.Errorf("%s contains several objects of the kind. Select one with %s#NAME. It contains: %s", file,
			file, listed(ofKind))
	}
	if m.importable != nil {
		if err := m.importable(candidates[0]); err != nil {
			return nil, fmt.Errorf("%s %q can't be imported: %w", m.kind, candidates[0].Metadata().Name, err)
		}
	}
	return candidates[0], nil
}

// readImport splits an import ID into file and name, and reads the file. The file name may contain a #.
func readImport(id string) (file, name, text string, err error) {
	file = id
	data, err := os.ReadFile(file)
	if i := strings.LastIndex(id, "#"); errors.Is(err, fs.ErrNotExist) && i >= 0 {
		file, name = id[:i], id[i+1:]
		data, err = os.ReadFile(file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		at, absErr := filepath.Abs(file)
		if absErr != nil {
			at = file
		}
		return "", "", "", fmt.Errorf("there is no file %s. The ID is the path of a Kalypso YAML file, relative to "+
			"Terraform's working directory, followed by #NAME if the file contains several objects of the kind", at)
	}
	return file, name, string(data), err
}

// listed lists objects with their kinds.
func listed(objects []fleet.Object) string {
	if len(objects) == 0 {
		return "no Kalypso object"
	}
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = fmt.Sprintf("%s %q", o.Kind(), o.Metadata().Name)
	}
	return strings.Join(names, ", ")
}
