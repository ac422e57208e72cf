package provider

import (
	"cmp"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
)

func computedFailed() schema.ListNestedAttribute {
	return computedObjects("The deployment targets that fail to render by faults of their teams, by object. With "+
		"`on_assignment_error = \"keep\"`, a rendering keeps what the branch holds of them.", map[string]schema.Attribute{
		"cluster_type":      computedText("The cluster type. Null if the deployment target fails on all."),
		"deployment_target": computedText("The deployment target, `<workload>-<target>`."),
		"kind":              computedText("The kind of the object that shows the fault, such as `Workload` or `Template`."),
		"object":            computedText("The name of that object."),
		"origin":            computedText("Its source: its key in an argument, such as `workloads` or `manifests`."),
		"reason":            computedText("What is wrong and what to do."),
		"since": computedText("The time of the commit whose `record` listed it first. Null without a `record`, and if that " +
			"does not list it."),
	})
}

func (o *assignmentsOutcome) failed() []values {
	all := []values{}
	for _, p := range o.Failed {
		for _, target := range p.Affects {
			all = append(all, values{
				"cluster_type":      orNil(target.ClusterType),
				"deployment_target": target.Name,
				"kind":              p.Kind,
				"object":            p.Name,
				"origin":            p.Origin.Key,
				"reason":            p.Summary + ": " + cmp.Or(p.Cause, p.Detail),
				"since":             orNil(o.record.FailsSince(target.ClusterType, target.Name)),
			})
		}
	}
	return all
}
