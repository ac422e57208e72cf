package schemas

import (
	"fmt"
	"reflect"

	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

// dataSourceTypes contains the framework's attributes of data sources, by the attribute of a resource of the same kind.
var dataSourceTypes = map[reflect.Type]reflect.Type{
	reflect.TypeFor[schema.StringAttribute]():       reflect.TypeFor[datasource.StringAttribute](),
	reflect.TypeFor[schema.BoolAttribute]():         reflect.TypeFor[datasource.BoolAttribute](),
	reflect.TypeFor[schema.Int64Attribute]():        reflect.TypeFor[datasource.Int64Attribute](),
	reflect.TypeFor[schema.Float64Attribute]():      reflect.TypeFor[datasource.Float64Attribute](),
	reflect.TypeFor[schema.MapAttribute]():          reflect.TypeFor[datasource.MapAttribute](),
	reflect.TypeFor[schema.ListAttribute]():         reflect.TypeFor[datasource.ListAttribute](),
	reflect.TypeFor[schema.DynamicAttribute]():      reflect.TypeFor[datasource.DynamicAttribute](),
	reflect.TypeFor[schema.SingleNestedAttribute](): reflect.TypeFor[datasource.SingleNestedAttribute](),
	reflect.TypeFor[schema.ListNestedAttribute]():   reflect.TypeFor[datasource.ListNestedAttribute](),
	reflect.TypeFor[schema.MapNestedAttribute]():    reflect.TypeFor[datasource.MapNestedAttribute](),
}

// dataSourceAttributes converts attributes of a resource to attributes of a data source. The framework has separate
// types for them. Those of a data source have some of the fields of the others.
func dataSourceAttributes(attributes map[string]schema.Attribute) map[string]datasource.Attribute {
	all := make(map[string]datasource.Attribute, len(attributes))
	for name, a := range attributes {
		from := reflect.ValueOf(a)
		kind, ok := dataSourceTypes[from.Type()]
		if !ok {
			panic(fmt.Sprintf("%s: a data source has no attribute of type %T", name, a))
		}
		to := reflect.New(kind).Elem()
		for i := range to.NumField() {
			field := from.FieldByName(kind.Field(i).Name)
			switch v := field.Interface().(type) {
			case map[string]schema.Attribute:
				field = reflect.ValueOf(dataSourceAttributes(v))
			case schema.NestedAttributeObject:
				field = reflect.ValueOf(datasource.NestedAttributeObject{
					Attributes: dataSourceAttributes(v.Attributes), CustomType: v.CustomType,
				})
			}
			to.Field(i).Set(field)
		}
		all[name] = to.Interface().(datasource.Attribute) //nolint:forcetypeassert // dataSourceTypes has no other types
	}
	return all
}
