package functions_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

func TestAccPlacementDecisionsFunction(t *testing.T) {
	t.Parallel()
	const (
		assignments = `{ large = { shop-web = "0123" }, small = { shop-web = "4567", shop-api = null } }`
		types       = `{ large = { clusters = ["b", "a"] }, small = { clusters = [] } }`
	)
	call := func(arguments string) string { return "provider::kalypso::placement_decisions(" + arguments + ")" }
	references := func(arguments string) string {
		return `join(" ", [for o in ` + call(arguments) + ` : "${o.metadata.namespace}/${o.metadata.name}:${join(",",
			[for d in o.decisions : "${d.clusterProfileRef.namespace}/${d.clusterProfileRef.name}"])}"])`
	}
	testFunction(t, []functionCall{
		{references(assignments), "default/shop-api-0:default/small default/shop-web-0:default/large,default/small"},
		{references(assignments + ", " + types), "default/shop-api-0: default/shop-web-0:default/a,default/b"},
		{references(assignments + ", " + types + `, { namespace = "argocd", profiles_namespace = "ocm" }`),
			"argocd/shop-api-0: argocd/shop-web-0:ocm/a,ocm/b"},
		{call(assignments) + `[0].metadata.labels["multicluster.x-k8s.io/decision-key"]`, "shop-api"},
		{call(assignments) + `[0].decisions[0].reason`, `assigned to the cluster type "small"`},
		{`tostring(length(` + call(`{}`) + `))`, "0"},
		{call(`null`), says("argument must not be null")},
		{call(`"large"`), says("assignments must be the attribute assignments of")},
		{call(`{ large = "shop-web" }`), says("assignments must be the attribute assignments of")},
		{call(assignments + `, { large = ["a"] }`), says("Expected an object")},
		{call(assignments + `, { large = { clusters = "a" } }`), says(`clusters: Wrong type: Expected a list of strings`)},
		{call(assignments + `, { large = { clusters = ["a"] } }`), says(`cluster_types has no cluster type "small"`)},
		{call(assignments + `, { large = { clusters = ["A"] }, small = {} }`), says(`the name of the cluster "A"`)},
		{call(assignments + `, ` + types + `, { name = "a" }`), says(`"name" is not one of`)},
		{call(assignments + `, ` + types + `, {}, {}`), says("at most cluster_types and one object of options")},
		{call(assignments + `, ` + types + `, { namespace = "A" }`), says(`"A" is not a valid namespace`)},
	})
	if !acc.IsOpenTofu(t) { // OpenTofu does not call a function with a null among its further arguments
		testFunction(t, []functionCall{{references(assignments + ", null"),
			"default/shop-api-0:default/small default/shop-web-0:default/large,default/small"}})
	}
}
