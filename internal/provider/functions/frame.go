package functions

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// All returns the functions of the provider.
func All() []func() function.Function {
	all := []pure{
		{"namespace", namespaceDefinition, runNamespace},
		{"selector_matches", selectorMatchesDefinition, runSelectorMatches},
		{"manifest", manifestDefinition, runManifest},
		{"render_template", renderTemplateDefinition, runRenderTemplate},
		{"cluster_sync", clusterSyncDefinition, runClusterSync},
		{"fleet_page", fleetPageDefinition, runFleetPage},
		{"placement_decisions", placementDecisionsDefinition, runPlacementDecisions},
	}
	return lists.Map(all, func(f pure) func() function.Function { return func() function.Function { return f } })
}

// pure is a function that contacts nothing.
type pure struct {
	name       string
	definition function.Definition
	run        func(context.Context, function.ArgumentsData) (result any, err *function.FuncError)
}

// Metadata implements function.Function.
func (f pure) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = f.name
}

// Definition implements function.Function.
func (f pure) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = f.definition
}

// Run implements function.Function.
func (f pure) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	result, err := f.run(ctx, req.Arguments)
	resp.Error = err
	if err == nil {
		resp.Error = resp.Result.Set(ctx, result)
	}
	if resp.Error != nil {
		resp.Error.Text = printable.Text(resp.Error.Text)
	}
}
