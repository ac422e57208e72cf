package acc

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// Change is the change of a resource in a saved plan.
type Change struct {
	Actions []string
	Before  map[string]any
	After   map[string]any
	// Unknown has each attribute with an unknown part. Its value is true, or has the unknown members.
	Unknown map[string]any `json:"after_unknown"`
}

// Plan makes a saved plan, and returns its changes by address.
func (r *Root) Plan(args ...string) map[string]Change {
	r.T.Helper()
	r.Succeed(append([]string{"plan", "-no-color", "-out=plan"}, args...)...)
	var shown struct {
		ResourceChanges []struct {
			Address string
			Change  Change
		} `json:"resource_changes"`
	}
	r.Show(&shown, "plan")
	all := map[string]Change{}
	for _, c := range shown.ResourceChanges {
		all[c.Address] = c.Change
	}
	return all
}

// ApplyPlan applies the saved plan.
func (r *Root) ApplyPlan() {
	r.T.Helper()
	r.Succeed("apply", "-no-color", "plan")
}

// State returns the values of the resources in the state, by address.
func (r *Root) State() map[string]map[string]any {
	r.T.Helper()
	all := map[string]map[string]any{}
	for _, resource := range r.StateFile().Resources {
		if resource.Module != "" {
			continue
		}
		address := resource.Type + "." + resource.Name
		if resource.Mode == "data" {
			address = "data." + address
		}
		for _, instance := range resource.Instances {
			index := ""
			if instance.IndexKey != nil {
				index = "[" + string(instance.IndexKey) + "]"
			}
			all[address+index] = instance.Attributes
		}
	}
	return all
}

// As converts a value to type T. It panics if the value has another type.
func As[T any](v any) T {
	typed, ok := v.(T)
	if !ok {
		panic(fmt.Sprintf("%v is not a %T", v, typed))
	}
	return typed
}

// Show decodes the JSON that terraform show prints.
func (r *Root) Show(into any, args ...string) {
	r.T.Helper()
	out := r.Succeed(append([]string{"show", "-json"}, args...)...)
	must.Succeed(r.T, json.Unmarshal([]byte(out.Stdout), into))
}

// Rendered returns the attributes of the rendering in the state, or nil if there is no rendering.
func (r *Root) Rendered() map[string]any {
	r.T.Helper()
	return r.AttributesOf("kalypso_environment_rendering")
}

// AttributesOf returns the attributes of the first resource of a type in the state, or nil if there is none.
func (r *Root) AttributesOf(resourceType string) map[string]any {
	r.T.Helper()
	for _, resource := range r.StateFile().Resources {
		if resource.Type == resourceType && len(resource.Instances) > 0 {
			if resource.Instances[0].Status != "" {
				r.T.Errorf("the %s is %s", resourceType, resource.Instances[0].Status)
			}
			return resource.Instances[0].Attributes
		}
	}
	return nil
}

// OutputManifests adds the output "manifests" with the manifests of model resources, by address.
func (r *Root) OutputManifests(addresses []string) {
	r.T.Helper()
	var all strings.Builder
	for _, address := range addresses {
		fmt.Fprintf(&all, "    %q = provider::kalypso::manifest(%s)\n", address, address)
	}
	r.Write("manifests.tf", "output \"manifests\" {\n  value = {\n"+all.String()+"  }\n}\n")
}
