package provider

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/source"
)

// fleetArguments are the arguments that make up a fleet.
func fleetArguments() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"environment": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "The environment that is rendered: the deployment targets of others do not exist here. Usually `terraform.workspace`.",
		},
		"cluster_types":       nestedAttributes("cluster_types", "The cluster types, by keys of your choice: `kalypso_cluster_type.all` where that has `for_each`, or a map of single resources or of objects written in place."),
		"templates":           nestedAttributes("templates", "The templates that the cluster types name, likewise."),
		"configs":             nestedAttributes("configs", "The platform configuration, likewise. It is committed in clear, also where it comes from sensitive values."),
		"config_schemas":      nestedAttributes("config_schemas", "The JSON Schemas that the configuration must satisfy, likewise."),
		"scheduling_policies": nestedAttributes("scheduling_policies", "The policies that place deployment targets on cluster types, likewise."),
		"workloads":           nestedAttributes("workloads", "The workloads with their deployment targets, likewise."),
		"manifests": schema.MapAttribute{
			ElementType:         types.StringType,
			Optional:            true,
			MarkdownDescription: "Kalypso objects as YAML, by where each text came from: `{ for f in fileset(path.module, \"fleet/**/*.yaml\") : f => file(\"${path.module}/${f}\") }`. A text may hold several documents; those of other kinds are passed over. The way for large fleets.",
		},
	}
}

// readFleet reads the [fleetArguments]. What is wrong with them by themselves is reported; the fleet is not validated.
// The origins are the keys of manifests that say from which commit their text came.
func readFleet(d decoder) (f *fleet.Fleet, origins []string) {
	f = &fleet.Fleet{Environment: d.string("environment")}
	for _, m := range models {
		if m.attribute == "" {
			continue
		}
		set, ok := d.arguments[m.attribute].(types.Map)
		if !ok || set.IsNull() {
			continue
		}
		objects, ps := objectsOf(m.attribute, set)
		f.Add(objects...)
		*d.problems = append(*d.problems, ps...)
	}
	texts := d.stringMap(yamlAttribute)
	for _, origin := range slices.Sorted(maps.Keys(texts)) {
		if fleet.IsUnknown(origin) || fleet.IsUnknown(texts[origin]) {
			f.Incomplete = true
			continue
		}
		objects, _, ps := fleet.ParseYAML(fleet.Origin{Attribute: yamlAttribute, Key: origin}, texts[origin])
		f.Add(objects...)
		*d.problems = append(*d.problems, ps...)
		if _, ok := source.ParseOrigin(origin); ok {
			origins = append(origins, origin)
		}
	}
	return f, origins
}
