package resources

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// Model contains the attributes of a plan or a state. A nil model has none.
type Model map[string]attr.Value

// readModel reads a plan or a state. It returns nil if there is none.
func readModel(ctx context.Context, from tfvalue.Getter, diags *diag.Diagnostics) Model {
	if all := tfvalue.GetObject(ctx, from, diags); len(all) > 0 {
		return all
	}
	return nil
}

// NullModel returns a model in which all attributes of a schema are null.
func NullModel[A interface{ GetType() attr.Type }](attributes map[string]A) Model {
	m := make(Model, len(attributes))
	for name, a := range attributes {
		m[name] = tfvalue.Result(a.GetType(), nil)
	}
	return m
}

// Object returns the attributes as one value.
func (m Model) Object() types.Object {
	all := make(map[string]attr.Type, len(m))
	for name, v := range m {
		all[name] = v.Type(context.Background())
	}
	return types.ObjectValueMust(all, m)
}

// Decoder reads the attributes. The schema has checked their types.
func (m Model) Decoder() tfvalue.Decoder { return m.Reporting(new(problem.Problems)) }

// Reporting is [Model.Decoder], and adds what is wrong to problems.
func (m Model) Reporting(problems *problem.Problems) tfvalue.Decoder {
	return tfvalue.Decoder{Arguments: m, Problems: problems}
}

// IsNull reports whether an attribute is null.
func (m Model) IsNull(name string) bool { return tfvalue.IsNull(m[name]) }

// Text returns a string; "" if it is null or unknown.
func (m Model) Text(name string) string {
	text, _ := m[name].(types.String)
	return text.ValueString()
}

// Set sets attributes, see [tfvalue.Result].
func (m Model) Set(values tfvalue.Values) {
	for name, v := range values {
		m[name] = tfvalue.Result(m[name].Type(context.Background()), v)
	}
}

// SetIn sets attributes of an object.
func (m Model) SetIn(object string, values tfvalue.Values) {
	o, _ := m[object].(types.Object)
	parts := Model(o.Attributes())
	parts.Set(values)
	m[object] = types.ObjectValueMust(o.AttributeTypes(context.Background()), parts)
}

// SetUnknown makes attributes unknown.
func (m Model) SetUnknown(names ...string) {
	ctx := context.Background()
	for _, name := range names {
		t := m[name].Type(ctx)
		later, err := t.ValueFromTerraform(ctx, tftypes.NewValue(t.TerraformType(ctx), tftypes.UnknownValue))
		if err != nil {
			panic(fmt.Sprintf("%s can't be unknown: %s", name, err))
		}
		m[name] = later
	}
}

// Keep takes attributes of another model.
func (m Model) Keep(from Model, names ...string) {
	for _, name := range names {
		m[name] = from[name]
	}
}
