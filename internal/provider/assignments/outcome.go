package assignments

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/explain"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

func computedFailed() schema.ListNestedAttribute {
	return schemas.ComputedObjects(
		"The deployment targets that fail to render by faults of their teams, by object. With "+
			"`on_assignment_error = \"keep\"`, a rendering keeps what the branch contains of them.",
		map[string]schema.Attribute{
			"cluster_type":      schemas.ComputedText("The cluster type. Null if the target fails on all cluster types."),
			"deployment_target": schemas.ComputedText("The deployment target, `<workload>-<target>`."),
			"kind": schemas.ComputedText(
				"The kind of the object that shows the fault, such as `Workload` or `Template`.",
			),
			"object": schemas.ComputedText("The name of that object."),
			"origin": schemas.ComputedText(
				"Its source: its key in an argument, such as `workloads` or `manifests`.",
			),
			"reason": schemas.ComputedText("The problem, and how to solve it."),
			"since": schemas.ComputedText(
				"The time of the commit whose record first listed the failure. Null without `record`, and if the record does " +
					"not list it.",
			),
		},
	)
}

func (o *assignmentsOutcome) failed() []tfvalue.Values {
	all := []tfvalue.Values{}
	for _, p := range o.Failed {
		for _, target := range p.Affects {
			all = append(all, tfvalue.Values{
				"cluster_type":      tfvalue.OrNil(target.ClusterType),
				"deployment_target": target.Name,
				"kind":              p.Kind,
				"object":            p.Name,
				"origin":            p.Origin.Key,
				"reason":            p.Summary + ": " + cmp.Or(p.Cause, p.Detail),
				"since":             tfvalue.OrNil(o.record.FailsSince(target.ClusterType, target.Name)),
			})
		}
	}
	return all
}

// assignmentsOutcome contains the data source's result for a fleet.
type assignmentsOutcome struct {
	*engine.Explanation
	fleet   *fleet.Fleet
	explain bool     // return the values too
	only    []string // deployment targets whose values to return; empty: all
	answers []*explain.Answer
	record  record.Record
}

// checkTargets reports explained targets that don't exist.
func (o *assignmentsOutcome) checkTargets() (ps problem.Problems) {
	for i, name := range o.only {
		there := slices.ContainsFunc(o.Schedule.Targets, func(t *fleet.DeploymentTarget) bool { return t.Name == name })
		if !there && !unknown.Is(name) { // a null element has been reported already
			ps = append(ps, problem.Problem{
				Path:    []problem.Step{problem.Attr("explain_targets"), problem.Index(i)},
				Summary: "No such deployment target",
				Detail: fmt.Sprintf("Environment %q has no deployment target %q. The name has the form <workload>-<target>.",
					o.fleet.Environment, name),
			})
		}
	}
	return ps
}

// explains reports whether the values of a deployment target are requested.
func (o *assignmentsOutcome) explains(target string) bool {
	return o.explain && (len(o.only) == 0 || slices.Contains(o.only, target))
}

// values returns the computed attributes.
func (o *assignmentsOutcome) values(ctx context.Context) (tfvalue.Values, error) {
	assignments, err := o.assignments(ctx)
	if err != nil {
		return nil, err
	}
	placements, err := o.placements(ctx)
	if err != nil {
		return nil, err
	}
	return tfvalue.Values{
		"assignments":   assignments,
		"answers":       o.answerValues(),
		"placements":    placements,
		"unscheduled":   o.unscheduled(),
		"failed":        o.failed(),
		"idle_policies": o.idlePolicies(),
		"counts": tfvalue.Values{
			"assignments":        o.Schedule.AssignmentCount,
			"cluster_types":      len(o.Schedule.Placements),
			"deployment_targets": len(o.Schedule.Targets),
			"unscheduled":        len(o.Unscheduled),
			"policies":           len(o.fleet.Policies),
			"idle_policies":      len(o.IdlePolicies),
		},
	}, nil
}

// maxExplained limits the number of returned values, including their overridden and merged parts. Terraform accepts at
// most 256 MiB and keeps several copies.
const maxExplained = 1_000_000

func (o *assignmentsOutcome) assignments(ctx context.Context) ([]tfvalue.Values, error) {
	requires := o.requirements(ctx)
	all := make([]tfvalue.Values, 0, o.Schedule.AssignmentCount)
	configs := newExplainer(assignmentType.AttrTypes["values"], contributionOf, mergedValue)
	secrets := newExplainer(assignmentType.AttrTypes["references"], referenceOf, mergedReference)
	size := 0
	for i, p := range o.Schedule.Placements {
		for n, a := range p.Assignments {
			of := o.Configuration.Of(i, n)
			config, references := of.Values, of.Secrets
			values := tfvalue.Values{
				"cluster_type":      a.ClusterType.Name,
				"deployment_target": a.Target.Name,
				"workload":          a.Target.Workload.Name,
				"workspace":         tfvalue.OrNil(a.Target.Workspace),
				"namespace":         a.Namespace,
				"policies":          namesOf(a.Policies),
				"requires":          requires.of(i, n, &size),
				"configs":           configs.names(config),
				"secrets":           secrets.names(references),
			}
			if o.explains(a.Target.Name) {
				values["values"], values["references"] = configs.explain(config, &size), secrets.explain(references, &size)
			}
			if size > maxExplained {
				return nil, fmt.Errorf(
					"the assignments have more than %d values, including overridden ones, and Terraform accepts no more: "+
						"set explain_targets to the deployment targets to explain",
					maxExplained,
				)
			}
			all = append(all, values)
		}
	}
	return all, nil
}

var (
	assignmentsType, _ = assignmentsComputed()["assignments"].GetType().(types.ListType)
	assignmentType, _  = assignmentsType.ElemType.(types.ObjectType)
)

// explainer converts values with their provenance. A value that several assignments share is converted once.
type explainer struct {
	to           attr.Type
	contribution func(configure.Contribution) tfvalue.Values
	merged       func(value any) tfvalue.Values // the attributes of a value after all contributions
	named        map[*configure.Values]attr.Value
	explained    map[*configure.Values]attr.Value
	sizes        map[*configure.Values]int
}

func newExplainer(
	to attr.Type, contribution func(configure.Contribution) tfvalue.Values, merged func(any) tfvalue.Values,
) *explainer {
	return &explainer{to, contribution, merged, map[*configure.Values]attr.Value{},
		map[*configure.Values]attr.Value{}, map[*configure.Values]int{}}
}

// names returns the names of the objects that set the values.
func (e *explainer) names(v *configure.Values) attr.Value {
	if _, ok := e.named[v]; !ok {
		e.named[v] = tfvalue.StringListOf(namesOf(v.Objects))
	}
	return e.named[v]
}

// explain returns the values with their provenance, and adds to size how many contributions they have.
func (e *explainer) explain(v *configure.Values, size *int) attr.Value {
	if _, ok := e.explained[v]; !ok {
		all := map[string]tfvalue.Values{}
		for key, p := range v.Provenance() {
			last := len(p.Contributions) - 1
			all[key] = e.contribution(p.Contributions[last])
			maps.Copy(all[key], e.merged(p.Value))
			all[key]["merged"] = lists.Map(p.Contributions[:last], e.contribution)
			all[key]["replaced"] = lists.Map(p.Overridden, e.contribution)
			e.sizes[v] += len(p.Contributions) + len(p.Overridden)
		}
		e.explained[v] = tfvalue.Result(e.to, all)
	}
	*size += e.sizes[v]
	return e.explained[v]
}

func referenceOf(c configure.Contribution) tfvalue.Values {
	reference, _ := c.Value.(map[string]any)
	m := c.Object.Metadata()
	return tfvalue.Values{
		"store": reference["store"], "key": reference["key"], "property": reference["property"],
		"secret": m.Name, "origin": m.Origin.Key,
	}
}

func mergedReference(value any) tfvalue.Values {
	merged, _ := value.(map[string]any)
	return tfvalue.Values{"property": merged["property"]}
}

func contributionOf(c configure.Contribution) tfvalue.Values {
	m := c.Object.Metadata()
	return tfvalue.Values{"config": m.Name, "origin": m.Origin.Key, "key": c.Key, "value": render.ValueText(c.Value)}
}

func mergedValue(value any) tfvalue.Values { return tfvalue.Values{"value": render.ValueText(value)} }

func (o *assignmentsOutcome) unscheduled() []tfvalue.Values {
	return lists.Map(o.Unscheduled, func(u explain.UnscheduledTarget) tfvalue.Values {
		reasons := lists.Map(u.Rejections, func(r explain.Rejection) tfvalue.Values {
			return tfvalue.Values{
				"policy":                r.Policy.Name,
				"reason":                r.Reason,
				"mismatches":            r.Mismatches,
				"selects_cluster_types": !r.NoClusterTypes,
			}
		})
		if len(o.fleet.Policies) == 0 {
			reasons = []tfvalue.Values{
				{"reason": explain.NoPolicies, "mismatches": []explain.Mismatch{}, "selects_cluster_types": false},
			}
		}
		return tfvalue.Values{
			"deployment_target": u.Target.Name,
			"workload":          u.Target.Workload.Name,
			"workspace":         tfvalue.OrNil(u.Target.Workspace),
			"labels":            u.Target.Labels,
			"reasons":           reasons,
		}
	})
}

func (o *assignmentsOutcome) idlePolicies() []tfvalue.Values {
	return lists.Map(o.IdlePolicies, func(idle explain.IdlePolicy) tfvalue.Values {
		empty := emptyBoth
		switch {
		case !idle.NoClusterTypes:
			empty = emptyTargets
		case !idle.NoDeploymentTargets:
			empty = emptyClusterTypes
		}
		all := tfvalue.ValuesOf(idle)
		all["policy"], all["origin"], all["empty"] = idle.Policy.Name, idle.Policy.Origin.Key, empty
		return all
	})
}

func namesOf[O fleet.Object](all []O) []string {
	return lists.Map(all, func(o O) string { return o.Metadata().Name })
}
