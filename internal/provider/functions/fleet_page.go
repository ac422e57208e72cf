package functions

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/page"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var fleetPageDefinition = function.Definition{
	Summary: "One HTML page with running versions and deliveries",
	MarkdownDescription: "Returns one HTML file for people without Terraform: current problems, the version of each " +
		"deployment target in each environment, and the deliveries with their metrics. A pipeline publishes it as a page, " +
		"as a file in a bucket, or as an artifact; you can also open it from disk.\n\nThe page makes no requests. It can " +
		"be read without JavaScript; with it, the page has filters, the reader's time zone and arrow keys. It has names " +
		"of authors, but not their mail addresses. Commits are links if their repo's URL begins with `https://`. The page " +
		"depends only on its arguments: all times come from the data. With 2,000 deployment targets, 5 environments and " +
		"the default `limit`, it has at most 2 MiB.\n\nThe versions of deployment targets come from `versions` and `runs` " +
		"of a history, or `targets` of a state. Without them, the page shows the clusters of each cluster type, and the " +
		"promoted commit that they run. If versions have `workspace` and `workload`, the page has filters for these. A " +
		"version is ahead of another version if its numbers are higher, or if an environment that ran both started it " +
		"later.\n\nIf an argument is sensitive, so is the page. Mark an output of the page as `sensitive`, so that no " +
		"plan prints it; `terraform output -raw` writes it.",
	Parameters: []function.Parameter{
		function.DynamicParameter{
			Name: "histories",
			MarkdownDescription: "Whole objects of `data.kalypso_deployment_history` in a list or a map, or a single object. " +
				"The columns have the order of the list. The keys of a map name the environments, and sort the columns.",
		},
	},
	VariadicParameter: function.DynamicParameter{
		Name: "states",
		MarkdownDescription: "A list or map of whole objects of `data.kalypso_deployment_state`, or a single object. They " +
			"add the versions that the clusters run. A state belongs to the history of the same `gitops_repo`; the keys of a " +
			"map name its environment. `detail = \"clusters\"` adds the names of clusters. One more argument can have the " +
			"objects of `data.kalypso_promotion` in the same way. They add the commits that wait, with the reason, such as " +
			"the time at which a window opens. Another one can have the objects of `data.kalypso_comparison`: the page shows " +
			"their differences as tables. A last one can have those of `data.kalypso_assignments`: the page shows which " +
			"deployment targets are not placed, and why.",
	},
	Return: function.StringReturn{},
}

func runFleetPage(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
	var first types.Dynamic
	var more []types.Dynamic
	if err := arguments.Get(ctx, &first, &more); err != nil {
		return nil, err
	}
	if len(more) > 4 {
		return nil, function.NewArgumentFuncError(5, "fleet_page takes at most one list of states, one of promotions, one "+
			"of comparisons, and one of assignments. Join several lists with concat")
	}
	all := append([]types.Dynamic{first}, more...)
	if slices.ContainsFunc(all, func(v types.Dynamic) bool { return !tfvalue.WhollyKnown(v) }) {
		return types.StringUnknown(), nil
	}
	histories, err0 := pageArgument[page.History](all, 0, "histories", "deployments")
	states, err1 := pageArgument[page.DeploymentState](all, 1, "states", "folders")
	promotions, err2 := pageArgument[page.Promotion](all, 2, "promotions", "waiting")
	comparisons, err3 := pageArgument[page.Comparison](all, 3, "comparisons", "placements")
	assignments, err4 := pageArgument[page.Assignments](all, 4, "assignments", "unscheduled")
	if err := cmp.Or(err0, err1, err2, err3, err4); err != nil {
		return nil, err
	}
	html, err := page.HTML(page.Data{
		Histories: histories, States: states, Promotions: promotions, Comparisons: comparisons, Assignments: assignments,
	})
	if err != nil {
		return nil, function.NewFuncError(sentence(err.Error()))
	}
	return string(html), nil
}

// pageArgument reads argument i, or returns nothing if it is not given.
func pageArgument[T any](given []types.Dynamic, i int, argument, wanted string) ([]T, *function.FuncError) {
	if i >= len(given) {
		return nil, nil
	}
	all, err := pageData[T](argument, wanted, given[i])
	if err != nil {
		return nil, function.NewArgumentFuncError(int64(i), sentence(err.Error()))
	}
	return all, nil
}

// pageData reads the objects of a data source: a list, a map whose keys name the objects, or a single object. wanted is
// an attribute that all objects of the data source have.
func pageData[T any](argument, wanted string, v attr.Value) ([]T, error) {
	v = tfvalue.Underlying(v)
	set, named := tfvalue.Members(v)
	list, listed := tfvalue.Elements(v)
	var keys []string
	_, single := set["gitops_repo"]
	if _, compared := set["left"]; compared {
		_, single = set[wanted] // a comparison
	}
	if _, placed := set["idle_policies"]; placed {
		_, single = set[wanted] // assignments
	}
	switch {
	case tfvalue.IsNull(v):
	case single:
		list, named = []attr.Value{v}, false
	case named:
		keys = slices.Sorted(maps.Keys(set))
		for _, key := range keys {
			list = append(list, set[key])
		}
	case !listed:
		return nil, fmt.Errorf("%s is neither a list nor a map of objects", argument)
	}
	all := make([]T, len(list))
	for i, e := range list {
		at := fmt.Sprintf("%s[%d]", argument, i)
		if named {
			at = fmt.Sprintf("%s[%q]", argument, keys[i])
		}
		object, ok := tfvalue.Members(tfvalue.Underlying(e))
		if _, there := object[wanted]; !ok || !there {
			return nil, fmt.Errorf("%s has no attribute %s. Pass whole objects of the data source", at, wanted)
		}
		data := plainMembers(object)
		data["name"] = ""
		if named {
			data["name"] = keys[i]
		}
		if err := page.Decode(data, &all[i]); err != nil {
			return nil, fmt.Errorf("%s%w", at, err)
		}
	}
	return all, nil
}
