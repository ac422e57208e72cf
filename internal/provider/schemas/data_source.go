package schemas

import (
	"fmt"

	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

// DataSourceArguments converts arguments of a resource to arguments of a data source. The framework has separate types
// for them.
func DataSourceArguments(attributes map[string]schema.Attribute) map[string]datasource.Attribute {
	all := make(map[string]datasource.Attribute, len(attributes))
	for name, a := range attributes {
		all[name] = dataSourceArgument(name, a)
	}
	return all
}

func dataSourceArgument(name string, a schema.Attribute) datasource.Attribute {
	switch a := a.(type) {
	case schema.StringAttribute:
		return datasource.StringAttribute{Required: a.Required, Optional: a.Optional,
			MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
	case schema.BoolAttribute:
		return datasource.BoolAttribute{Required: a.Required, Optional: a.Optional,
			MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
	case schema.Int64Attribute:
		return datasource.Int64Attribute{Required: a.Required, Optional: a.Optional,
			MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
	case schema.MapAttribute:
		return datasource.MapAttribute{ElementType: a.ElementType, Required: a.Required, Optional: a.Optional,
			MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
	case schema.DynamicAttribute:
		return datasource.DynamicAttribute{Required: a.Required, Optional: a.Optional,
			MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
	case schema.ListAttribute:
		return datasource.ListAttribute{ElementType: a.ElementType, Required: a.Required, Optional: a.Optional,
			MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
	case schema.SingleNestedAttribute:
		return datasource.SingleNestedAttribute{
			Attributes: DataSourceArguments(a.Attributes),
			Required:   a.Required, Optional: a.Optional, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
		}
	case schema.ListNestedAttribute:
		return datasource.ListNestedAttribute{
			NestedObject: datasource.NestedAttributeObject{Attributes: DataSourceArguments(a.NestedObject.Attributes)},
			Required:     a.Required, Optional: a.Optional, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
		}
	case schema.MapNestedAttribute:
		return datasource.MapNestedAttribute{
			NestedObject: datasource.NestedAttributeObject{Attributes: DataSourceArguments(a.NestedObject.Attributes)},
			Required:     a.Required, Optional: a.Optional, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
		}
	}
	panic(fmt.Sprintf("%s: a data source has no argument of type %T", name, a))
}
