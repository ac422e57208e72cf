package model

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/localfile"
)

// importObject reads an object. The ID is the path of a Kalypso YAML file, relative to Terraform's working directory,
// followed by #name if the file contains several objects of the kind. An identity may name a file of a repo too.
func (m *model) importObject(
	ctx context.Context, c *resources.Call, id string, identity map[string]string,
) resources.Model {
	var found fleet.Object
	var err error
	switch {
	case identity == nil:
		found, err = m.find(ctx, id)
	case identity["repo"] != "":
		id = identity["file"]
		found, err = m.findInRepo(ctx, c, identity)
	default:
		id = identity["file"]
		if identity["name"] != "" {
			id += "#" + identity["name"]
		}
		found, err = m.find(ctx, id)
	}
	if err != nil {
		c.Diags.AddError("Cannot import "+id, printable.Text(err.Error()))
		return nil
	}
	return m.state(found, c.Diags).Attributes()
}

// state returns the state of a resource with an object: its arguments.
func (m *model) state(found fleet.Object, diags *diag.Diagnostics) types.Object {
	state := types.ObjectValueMust(m.argumentTypes(), m.values(found))
	_, ps := m.Object(problem.Origin{}, state)
	if err := ps.Err(); err != nil {
		diags.AddError(fmt.Sprintf("Cannot import %s %q", m.Kind, found.Metadata().Name), printable.Text(err.Error()))
		return types.ObjectNull(nil)
	}
	return state
}

// findInRepo reads the object of the kind that an identity with a repo names.
func (m *model) findInRepo(
	ctx context.Context, c *resources.Call, identity map[string]string,
) (fleet.Object, error) {
	if identity["branch"] == "" && identity["commit"] == "" {
		return nil, errors.New("the identity has a repo, but neither a branch nor a commit. Add one of them")
	}
	if !c.Known() {
		return nil, errors.New("this import reads a repo, and the provider's credentials are known after apply")
	}
	ctx, cancel := context.WithTimeout(ctx, schemas.SourceTimeout)
	defer cancel()
	text, err := c.Data.Sources.File(ctx, source.Location{
		Repo: identity["repo"], Branch: identity["branch"], Commit: identity["commit"],
	}, identity["file"])
	if err != nil {
		return nil, err
	}
	return m.choose(ctx, identity["file"], identity["name"], text)
}

// find reads the object of the kind that an import ID names.
func (m *model) find(ctx context.Context, id string) (fleet.Object, error) {
	file, name, text, err := readImport(id)
	if err != nil {
		return nil, err
	}
	return m.choose(ctx, file, name, text)
}

// choose returns the object of the kind in the text of a file. Only one object may have the name; if name is empty, the
// file may contain only one object of the kind.
func (m *model) choose(ctx context.Context, file, name, text string) (fleet.Object, error) {
	// Errors in other documents of the file don't matter if the object is found.
	objects, _, ps := fleetyaml.Parse(ctx, problem.Origin{Key: file}, text)
	broken := ps.Err()
	ofKind := slices.DeleteFunc(slices.Clone(objects), func(o fleet.Object) bool { return o.Kind() != m.Kind })
	candidates := ofKind
	if name != "" {
		candidates = slices.DeleteFunc(slices.Clone(ofKind), func(o fleet.Object) bool { return o.Metadata().Name != name })
	}
	switch {
	case len(candidates) == 0 && broken != nil:
		return nil, broken
	case len(ofKind) == 0:
		return nil, fmt.Errorf("%s contains no %s. It contains: %s", file, m.Kind, listed(objects))
	case len(candidates) == 0:
		return nil, fmt.Errorf("%s contains no %s named %q. It contains: %s", file, m.Kind, name, listed(ofKind))
	case len(candidates) > 1 && name != "":
		return nil, fmt.Errorf("%s contains %d objects of kind %s named %q. Remove all but one", file, len(candidates),
			m.Kind, name)
	case len(candidates) > 1:
		return nil, fmt.Errorf("%s contains several objects of the kind. Select one with %s#NAME. It contains: %s", file,
			file, listed(ofKind))
	}
	if m.importable != nil {
		if err := m.importable(candidates[0]); err != nil {
			return nil, fmt.Errorf("%s %q can't be imported: %w", m.Kind, candidates[0].Metadata().Name, err)
		}
	}
	return candidates[0], nil
}

// readImport splits an import ID into file and name, and reads the file. The file name may contain a #.
func readImport(id string) (file, name, text string, err error) {
	file = id
	data, err := localfile.Read(file, source.DefaultLimits.File)
	if i := strings.LastIndex(id, "#"); errors.Is(err, fs.ErrNotExist) && i >= 0 {
		file, name = id[:i], id[i+1:]
		data, err = localfile.Read(file, source.DefaultLimits.File)
	}
	if errors.Is(err, fs.ErrNotExist) {
		file = redact.UserInfo(file) // Abs would turn a URL into a path
		at, absErr := filepath.Abs(file)
		if absErr != nil {
			at = file
		}
		return "", "", "", fmt.Errorf("there is no file %s. The ID is the path of a Kalypso YAML file, relative to "+
			"Terraform's working directory, followed by #NAME if the file contains several objects of the kind", at)
	}
	if err != nil {
		err = fmt.Errorf("the file %s can't be read: %w", file, err)
	}
	return file, name, string(data), err
}

// listed lists objects with their kinds.
func listed(objects []fleet.Object) string {
	if len(objects) == 0 {
		return "no Kalypso object"
	}
	names := lists.Map(objects, func(o fleet.Object) string { return fmt.Sprintf("%s %q", o.Kind(), o.Metadata().Name) })
	return strings.Join(names, ", ")
}
