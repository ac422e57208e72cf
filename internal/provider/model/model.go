package model

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// model describes one kind of Kalypso object: its schema, and the two conversions between Terraform's values and the
// domain's object. The kind's resource and the objects nested in a rendering use it.
type model struct {
	Kind        fleet.Kind
	object      func() fleet.Object // returns a new one
	name        string              // of the resource, without the provider's
	attribute   string              // of a rendering that takes a map of such objects; "": none
	description string              // Markdown

	nameDescription   string // Markdown
	labelsDescription string // Markdown

	// arguments contains the arguments other than name and labels.
	arguments map[string]schema.Attribute

	// decode reads the arguments that are not fields of the object, and completes the fields; may be nil.
	decode func(o fleet.Object, d tfvalue.Decoder)
	// encode returns the arguments that differ from the fields of the object; may be nil.
	encode func(o fleet.Object) tfvalue.Values
	// argument maps a problem's path in the domain to the argument; may be nil.
	argument func(d tfvalue.Decoder, path []problem.Step) []problem.Step
	// importable returns why a document can't be imported; may be nil.
	importable func(o fleet.Object) error
}

// All lists all kinds, in the order of the documentation.
var All = []*model{
	clusterTypeModel,
	templateModel,
	configModel,
	configSchemaModel,
	secretModel,
	schedulingPolicyModel,
	workloadModel,
	WorkloadRegistrationModel,
}

// Attributes returns the schema of the kind's resource.
func (m *model) Attributes() map[string]schema.Attribute {
	all := maps.Clone(m.arguments)
	all["name"] = schemas.RequiredString(m.nameDescription)
	all["labels"] = schemas.OptionalStrings(m.labelsDescription)
	return all
}

// argumentTypes returns the types of the arguments, with name and labels.
func (m *model) argumentTypes() map[string]attr.Type {
	all := map[string]attr.Type{}
	for name, a := range m.Attributes() {
		all[name] = a.GetType()
	}
	return all
}

// Object converts the arguments v, of a resource or nested, into the domain's object. It returns only problems of the
// conversion; [engine.CheckObject] validates the object.
func (m *model) Object(origin problem.Origin, v attr.Value) (fleet.Object, problem.Problems) {
	var ps problem.Problems
	d := tfvalue.NewDecoder(v, &ps)
	o := m.object()
	d.Read(o)
	o.Metadata().Origin = origin
	if m.decode != nil {
		m.decode(o, d)
	}
	return o, fleet.ProblemsOf(o, ps)
}

// checked converts the arguments v like [model.Object]. It returns all problems of the object by itself, at the paths
// of its arguments.
func (m *model) checked(v attr.Value) (fleet.Object, problem.Problems) {
	o, ps := m.Object(problem.Origin{}, v)
	ps = append(ps, engine.CheckObject(o)...)
	ps.Sort()
	if m.argument != nil {
		d := tfvalue.NewDecoder(v, new(problem.Problems))
		for i := range ps {
			ps[i].Path = m.argument(d, ps[i].Path)
		}
	}
	return o, ps
}

// values converts the domain's object into the arguments of its resource.
func (m *model) values(o fleet.Object) map[string]attr.Value {
	arguments := tfvalue.ValuesOf(o)
	if m.encode != nil {
		maps.Copy(arguments, m.encode(o))
	}
	all, _ := tfvalue.Encode(types.ObjectType{AttrTypes: m.argumentTypes()}, arguments).(types.Object)
	return all.Attributes()
}

// Objects converts the objects of an argument that takes a map of them, in the order of their keys. An unknown map has
// one unknown object. The problems are those of the conversion only.
func (m *model) Objects(argument string, v types.Map) ([]fleet.Object, problem.Problems) {
	if v.IsUnknown() {
		o, ps := m.Object(problem.Origin{Attribute: argument}, types.ObjectUnknown(m.argumentTypes()))
		return []fleet.Object{o}, ps
	}
	var objects []fleet.Object
	var ps problem.Problems
	set := v.Elements()
	for _, key := range slices.Sorted(maps.Keys(set)) {
		origin := problem.Origin{Attribute: argument, Key: key}
		if tfvalue.IsNull(set[key]) {
			ps = append(ps, problem.Problem{
				Origin:  origin,
				Kind:    string(m.Kind),
				Summary: "Null object",
				Detail:  "This element is null. Give it a value, or remove it.",
			})
			continue
		}
		o, problems := m.Object(origin, set[key])
		objects, ps = append(objects, o), append(ps, problems...)
	}
	return objects, ps
}

// As returns the object as the type of its kind.
func As[O fleet.Object](o fleet.Object) O {
	typed, ok := o.(O)
	if !ok {
		panic("a " + string(o.Kind()) + " where another kind is meant")
	}
	return typed
}
