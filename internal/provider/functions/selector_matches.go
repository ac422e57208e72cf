package functions

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

var selectorMatchesDefinition = function.Definition{
	Summary: "Reports whether a selector selects an object with these labels",
	MarkdownDescription: "Reports whether a selector of a scheduling policy selects a deployment target or cluster " +
		"type with these labels. Use it to test policies with `check` blocks and `terraform test`.",
	Parameters: []function.Parameter{
		function.DynamicParameter{
			Name: "selector",
			MarkdownDescription: "The selector: an object with `workspace`, `match_labels`, `match_expressions` and " +
				"`match_all`, each as in `kalypso_scheduling_policy`. To select everything, it needs `match_all = true`.",
		},
		function.DynamicParameter{
			Name: "labels",
			MarkdownDescription: "The labels: a map of strings. The selector's `workspace` is compared with the label `" +
				fleet.WorkspaceLabel + "`, which every deployment target has.",
		},
	},
	Return: function.BoolReturn{},
}

func runSelectorMatches(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
	var selectorValue, labelsValue types.Dynamic
	if err := arguments.Get(ctx, &selectorValue, &labelsValue); err != nil {
		return nil, err
	}
	var ofSelector, ofLabels problem.Problems
	s := schemas.DecodeSelector(tfvalue.NewDecoder(selectorValue, &ofSelector), true)
	ofSelector = append(ofSelector, fleet.ValidateSelector(&s.Labels)...)
	given := tfvalue.Decoder{Arguments: map[string]attr.Value{"labels": labelsValue}, Problems: &ofLabels}
	labels := given.StringMap("labels")
	if err := argumentErrors(ofSelector, ofLabels); err != nil {
		return nil, err
	}
	matches, err := fleet.SelectorMatches(s.Workspace, &s.Labels, labels)
	if err != nil {
		return nil, function.NewArgumentFuncError(0, sentence(err.Error()))
	}
	return matches, nil
}

// argumentErrors returns all errors of the first argument of a function that has errors as one error, or nil. all are
// the problems of the arguments, in their order.
func argumentErrors(all ...problem.Problems) *function.FuncError {
	for i, ps := range all {
		if !ps.HasErrors() {
			continue
		}
		texts := lists.Map(ps, func(p problem.Problem) string {
			text := p.Summary + ": " + p.Detail
			if at := tfvalue.PathOf(p).String(); at != "" {
				text = at + ": " + text
			}
			return text
		})
		return function.NewArgumentFuncError(int64(i), sentence(strings.Join(texts, "\n")))
	}
	return nil
}

// sentence removes the full stop, because Terraform adds one to the error of a function.
func sentence(text string) string { return printable.Text(strings.TrimSuffix(text, ".")) }
