package provider

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
)

// checkTemplate reports the manifests that do not parse.
func checkTemplate(o fleet.Object) fleet.Problems {
	return render.Check(as[*fleet.Template](o))
}

// checkConfigSchema reports a schema that can't be used.
func checkConfigSchema(o fleet.Object) fleet.Problems {
	schema := as[*fleet.ConfigSchema](o).Schema
	if schema == "" {
		return nil // the schema is missing, which is its Validate's to say
	}
	return checkSchema(schema, fleet.Attr("schema"))
}

// checkWorkload reports the schemas, of the workload and its targets, that can't be used.
func checkWorkload(o fleet.Object) (ps fleet.Problems) {
	w := as[*fleet.Workload](o)
	for i, t := range w.Targets {
		for j, schema := range t.ConfigSchemas {
			ps = append(ps, checkSchema(schema, fleet.Attr("deployment_targets"), fleet.Index(i), fleet.Attr("config_schemas"), fleet.Index(j))...)
		}
	}
	for i, schema := range w.ConfigSchemas {
		ps = append(ps, checkSchema(schema, fleet.Attr("config_schemas"), fleet.Index(i))...)
	}
	return ps
}

func checkSchema(schema string, path ...fleet.Step) fleet.Problems {
	if fleet.IsUnknown(schema) {
		return nil
	}
	err := configure.CheckSchema(schema)
	if err == nil {
		return nil
	}
	return fleet.Problems{{Summary: "Invalid JSON Schema", Detail: fleet.Sentence(err), Path: path, Err: err}}
}
