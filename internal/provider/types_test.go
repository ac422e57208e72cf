package provider_test

import (
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
)

// The cached types of attributes equal the types that the framework builds, on every level. All lists and maps of
// objects in resources have cached types.
func TestCachedTypes(t *testing.T) {
	ctx := t.Context()
	for _, create := range provider.New("test")().Resources(ctx) {
		made := create()
		var metadata resource.MetadataResponse
		made.Metadata(ctx, resource.MetadataRequest{}, &metadata)
		var schema resource.SchemaResponse
		made.Schema(ctx, resource.SchemaRequest{}, &schema)
		checkTypes(t, metadata.TypeName, reflect.ValueOf(schema.Schema.Attributes), true)
	}
	for _, create := range provider.New("test")().DataSources(ctx) {
		made := create()
		var metadata datasource.MetadataResponse
		made.Metadata(ctx, datasource.MetadataRequest{}, &metadata)
		var schema datasource.SchemaResponse
		made.Schema(ctx, datasource.SchemaRequest{}, &schema)
		checkTypes(t, metadata.TypeName, reflect.ValueOf(schema.Schema.Attributes), false)
	}
}

// checkTypes checks the attributes of an object: a map of attributes of the framework.
func checkTypes(t *testing.T, at string, attributes reflect.Value, cached bool) {
	t.Helper()
	for _, name := range attributes.MapKeys() {
		at := at + "." + name.String()
		a := attributes.MapIndex(name).Elem()
		built := reflect.New(a.Type()).Elem()
		built.Set(a)
		if custom := built.FieldByName("CustomType"); custom.IsValid() && name.String() != "timeouts" {
			custom.SetZero()
		}
		switch nested, object := built.FieldByName("Attributes"), built.FieldByName("NestedObject"); {
		case nested.IsValid():
			checkTypes(t, at, nested, cached)
		case object.IsValid():
			if cached && (a.FieldByName("CustomType").IsZero() || object.FieldByName("CustomType").IsZero()) {
				t.Errorf("the type of %s is not cached", at)
			}
			object.FieldByName("CustomType").SetZero()
			checkTypes(t, at, object.FieldByName("Attributes"), cached)
		}
		if got, want := typeOf(a), typeOf(built); !got.Equal(want) {
			t.Errorf("%s is %s, want %s", at, got, want)
		}
	}
}

// typeOf returns the type of an attribute.
func typeOf(attribute reflect.Value) attr.Type {
	return attribute.Interface().(interface{ GetType() attr.Type }).GetType() //nolint:forcetypeassert // all have it
}
