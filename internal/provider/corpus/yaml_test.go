package corpus_test

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// given returns the arguments as Terraform gets them. Most objects of a fleet are in manifests, since the framework is
// slow with objects.
func (w *world) given() args {
	if w.resource.Type != "kalypso_environment_rendering" || w.args == nil {
		return w.args
	}
	given := maps.Clone(w.args)
	given["guardrails"] = asRecorded(given["guardrails"])
	if len(w.yaml) == 0 {
		return given
	}
	texts := args{}
	if manifests, ok := w.args["manifests"].(args); ok {
		maps.Copy(texts, manifests)
	}
	for _, kind := range w.yaml {
		objects, _ := w.args[kind].(args)
		delete(given, kind)
		var all []string
		for _, key := range slices.Sorted(maps.Keys(objects)) {
			text, err := yaml.Marshal(documents[kind](objects[key].(args))) //nolint:forcetypeassert // set by fleet_test.go
			if err != nil {
				w.t.Fatal(err)
			}
			all = append(all, string(text))
		}
		texts[kind+".yaml"] = strings.Join(all, "---\n")
	}
	given["manifests"] = texts
	return given
}

// asRecorded returns guardrails with which the provider reacts as it did when the corpus was recorded: guardrails that
// were added later are off, or only warn.
func asRecorded(given any) args {
	guardrails := args{"emptied": "ignore", "orphaned": "ignore", "invalid_objects": "warn"}
	if set, ok := given.(args); ok {
		maps.Copy(guardrails, set)
	}
	return guardrails
}

// The kinds of objects that a story has in manifests.
var (
	allKinds   = []string{"cluster_types", "configs", "scheduling_policies", "templates", "workloads"}
	plainKinds = []string{"templates", "workloads"}
)

// documents makes Kalypso's documents of the arguments in a fleet.
var documents = map[string]func(a args) args{
	"cluster_types": func(a args) args {
		return document("ClusterType", a, args{"reconciler": a["reconciler"], "namespaceService": a["namespace_service"],
			"configType": a["config_type"]})
	},
	"templates": func(a args) args {
		return document("Template", a, args{"type": a["type"], "manifests": a["manifests"]})
	},
	"configs": func(a args) args {
		labels := args{"platform-config": "true"}
		if given, ok := a["labels"].(args); ok {
			maps.Copy(labels, given)
		}
		return args{"apiVersion": "v1", "kind": "ConfigMap", "metadata": args{"name": a["name"], "labels": labels},
			"data": a["data"]}
	},
	"scheduling_policies": func(a args) args {
		selector := func(name string) args {
			s, _ := a[name].(args)
			return args{"labelSelector": args{"matchLabels": s["match_labels"]}}
		}
		return document("SchedulingPolicy", a, args{"deploymentTargetSelector": selector("deployment_target_selector"),
			"clusterTypeSelector": selector("cluster_type_selector")})
	},
	"workloads": func(a args) args {
		var targets []any
		for _, t := range a["deployment_targets"].([]any) { //nolint:forcetypeassert // set by addWorkload
			target := maps.Clone(t.(args)) //nolint:forcetypeassert // set by addTarget
			if schemas, ok := target["config_schemas"]; ok {
				delete(target, "config_schemas")
				target["configSchemas"] = schemas
			}
			targets = append(targets, target)
		}
		return document("Workload", a, args{"deploymentTargets": targets})
	},
}

func document(kind string, a, spec args) args {
	maps.DeleteFunc(spec, func(_ string, v any) bool { return v == nil })
	metadata := args{"name": a["name"]}
	if a["labels"] != nil {
		metadata["labels"] = a["labels"]
	}
	return args{"apiVersion": "scheduler.kalypso.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
}
