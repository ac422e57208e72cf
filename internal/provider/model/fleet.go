package model

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// FleetArguments returns the arguments that make up a fleet.
func FleetArguments() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"environment": schemas.RequiredString(
			"The environment to render, usually `terraform.workspace`. Deployment targets of other " +
				"environments are ignored.",
		),
		"cluster_types": clusterTypeModel.nestedAttributes("The cluster types, by keys of your choice: " +
			"`kalypso_cluster_type.all` if it has `for_each`, or a map of single resources or of objects written inline."),
		"templates": templateModel.nestedAttributes("The templates that the cluster types use, in the same form."),
		"configs": configModel.nestedAttributes("The platform configuration, in the same form. Config values " +
			"are committed in plain text, even if marked sensitive."),
		"config_schemas": configSchemaModel.nestedAttributes(
			"The JSON Schemas that the configuration must satisfy, in the same form."),
		"secrets": secretModel.nestedAttributes("The references to secrets in external stores, in the same " +
			"form. A secret and a config of one assignment must not share a key."),
		"scheduling_policies": schedulingPolicyModel.nestedAttributes(
			"The policies that place deployment targets on cluster types, in the same form."),
		"workloads": workloadModel.nestedAttributes("The workloads with their deployment targets, in the same form."),
		"manifests": schemas.OptionalStrings(
			"Kalypso objects as YAML, by the source of each text: `{ for f in fileset(path.module, " +
				"\"fleet/**/*.yaml\") : f => file(\"${path.module}/${f}\") }`. A text may contain several documents; documents " +
				"of other kinds are skipped. Recommended for large fleets.",
		),
	}
}

// parsedText is a text of the argument manifests.
type parsedText struct {
	objects  []fleet.Object
	problems problem.Problems
}

// ReadFleet reads the [FleetArguments]. It reports values of a wrong type; it does not validate the fleet. origins
// lists the keys of manifests that refer to Git. Once ctx is done, it skips the remaining texts, and the caller reports
// that the run was stopped.
func ReadFleet(ctx context.Context, d tfvalue.Decoder, limits fleet.Limits) (f *fleet.Fleet, origins []string) {
	f = &fleet.Fleet{Environment: d.String("environment"), Limits: limits}
	for _, m := range All {
		set, _ := d.Arguments[m.attribute].(types.Map) // null if a fleet has no such argument
		objects, ps := m.Objects(m.attribute, set)
		f.Add(objects...)
		*d.Problems = append(*d.Problems, ps...)
	}
	texts := d.StringMap(tfvalue.ManifestsAttribute)
	if ps := limits.CheckManifests(texts); len(ps) > 0 {
		*d.Problems = append(*d.Problems, ps...)
		f.Incomplete = true
		return f, nil
	}
	f.Incomplete = unknown.Any(texts)
	maps.DeleteFunc(texts, func(key, text string) bool { return unknown.Is(key) || unknown.Is(text) })
	var passedOver []*fleet.Config
	keys := slices.Sorted(maps.Keys(texts))
	for i, parsed := range parallel.Map(len(keys), func(i int) (parsed parsedText) {
		at := problem.Origin{Attribute: tfvalue.ManifestsAttribute, Key: keys[i]}
		parsed.objects, _, parsed.problems = fleetyaml.Parse(ctx, at, texts[keys[i]])
		return parsed
	}) {
		if ctx.Err() != nil {
			f.Incomplete = true
			break
		}
		passedOver = append(passedOver, f.Add(parsed.objects...)...)
		*d.Problems = append(*d.Problems, parsed.problems...)
		if _, ok := origin.Parse(keys[i]); ok {
			origins = append(origins, keys[i])
		}
	}
	*d.Problems = append(*d.Problems, fleet.CheckPassedOver(passedOver)...)
	return f, origins
}
