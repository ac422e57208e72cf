package model

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewResource returns the resource of a kind of Kalypso object. It exists in state only and contacts nothing, but an
// import may read a repo.
func NewResource(m *model) func() resource.Resource {
	return func() resource.Resource {
		return resources.NewManaged(resources.Managed{
			Name: m.name, Schema: m.schema, Identity: modelIdentity, Check: m.check, Apply: m.apply, Import: m.importObject,
			Left: "removed the object from the state only",
		})
	}
}

func (m *model) schema() schema.Schema {
	return schema.Schema{MarkdownDescription: m.description, Attributes: m.Attributes()}
}

// modelIdentity identifies an object by its name. For an import, it also names the file that contains the object, like
// an import ID.
var modelIdentity = resources.Identity{
	{Name: "name", State: path.Root("name"),
		Description: "Name of the object. An import needs it only if the file contains several objects of the kind."},
	{Name: "file", Required: true,
		Description: "Path of the file with Kalypso YAML that an import reads, relative to Terraform's working directory, " +
			"or to the root of repo. The state does not keep it."},
	{Name: "repo", Description: "URL of the repo with the file. Null for a file on this machine."},
	{Name: "branch", Description: "Branch of the repo, whose head is read unless commit is set."},
	{Name: "commit", Description: "Full hash of the commit to read. Set branch too if the server does not serve " +
		"commits by their hash."},
}

// check reports problems of the known arguments. Terraform calls it for every plan too, with what is known by then.
func (m *model) check(c *resources.Call) {
	v := c.Plan.Object()
	_, ps := m.checked(v)
	ps = slices.DeleteFunc(ps, func(p problem.Problem) bool { return missingRequired(m.Attributes(), v, p.Path) })
	tfvalue.AppendProblems(c.Diags, ps)
}

// missingRequired reports whether a problem is about a required argument that is null. The framework reports that
// itself.
func missingRequired(attributes map[string]schema.Attribute, v attr.Value, steps []problem.Step) bool {
	arguments, ok := tfvalue.Members(v)
	if !ok || len(steps) == 0 {
		return false
	}
	name, _ := steps[0].(problem.Attr)
	a := attributes[string(name)]
	nested, ok := a.(schema.SingleNestedAttribute)
	switch value := arguments[string(name)]; {
	case a == nil:
		return false
	case tfvalue.IsNull(value):
		return a.IsRequired()
	case ok:
		return missingRequired(nested.Attributes, value, steps[1:])
	}
	return false
}

// apply stores the plan, in which all values are known by now.
func (m *model) apply(_ context.Context, c *resources.Call) resources.Model {
	_, ps := m.Object(problem.Origin{}, c.Plan.Object())
	tfvalue.AppendProblems(c.Diags, ps)
	if c.Diags.HasError() {
		return nil
	}
	return c.Plan
}
