package deployment

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison/comparisonlookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/historylookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// NewComparison returns the data source kalypso_comparison.
func NewComparison() datasource.DataSource {
	return resources.NewDataSource(resources.DataSource[comparisonlookup.Request]{
		Name: "comparison", Description: comparisonDescription, Arguments: comparisonArguments,
		Computed: comparisonComputed, Timeout: schemas.TimeoutText("How long reading may take"),
		Credentials: "The provider reads both branches from Git, and its credentials are known after apply.",
		Request:     readComparisonRequest, Read: compare,
	})
}

func compare(ctx context.Context, r resources.Reading, request comparisonlookup.Request) tfvalue.Values {
	request.Client = r.Data.Client
	found, ps, err := comparisonlookup.Read(ctx, request)
	tfvalue.AppendProblems(r.Diags, ps)
	if err != nil {
		appendComparisonError(r.Diags, err)
	}
	if r.Diags.HasError() {
		return nil
	}
	tflog.Info(ctx, "compared two environments", map[string]any{
		"left": found.Environments.Left, "right": found.Environments.Right, "equal": found.Equal(),
	})
	return comparisonValues(found)
}

// readComparisonRequest reads the arguments, and reports invalid ones.
func readComparisonRequest(r resources.Reading) comparisonlookup.Request {
	d := r.Decoder
	side := func(name string) destination.Destination {
		given, _ := d.Object(name)
		at := destination.New(given.String("repo"), given.String("branch"), given.String("path"))
		for _, p := range at.Validate(false) {
			p.Path[0] = problem.Attr(name)
			*d.Problems = append(*d.Problems, p)
		}
		return at
	}
	request := comparisonlookup.Request{
		Sides:   comparison.Pair[destination.Destination]{Left: side("left"), Right: side("right")},
		Options: comparison.Options{Ignore: d.Strings("ignore"), Match: d.StringMap("match")},
	}
	at := schemas.ReadControlPlaneBranch(d)
	request.ControlPlane.Repo, request.ControlPlane.Branch = at.Repo, at.Branch
	left, right := request.Sides.Left, request.Sides.Right
	known := left.Repo != "" && !unknown.Is(left.Repo) && !unknown.Is(left.Branch) && !unknown.Is(left.Path)
	if known && left.Same(right) {
		d.Report("Both sides are the same rendering", "left and right are both "+left.String()+". Name the repo, "+
			"branch and path of another environment.", problem.Attr("right"))
	}
	*d.Problems = append(*d.Problems, request.Options.Validate()...)
	return request
}

// appendComparisonError adds the errors of both sides, each at its argument.
func appendComparisonError(diags *diag.Diagnostics, err error) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range all.Unwrap() {
			appendComparisonError(diags, one)
		}
		return
	}
	var side *comparisonlookup.SideError
	var controlPlane *historylookup.ControlPlaneError
	switch {
	case errors.As(err, &controlPlane):
		diags.AddAttributeError(path.Root("control_plane"), "The control plane can't be read",
			problem.Sentence(controlPlane.Err))
	case errors.As(err, &side):
		p := report.Error(side.At, side.Err)
		switch {
		case errors.Is(err, gitbranch.ErrBranchNotFound):
			p = problem.At("Branch not found", "There is no "+side.At.String()+". Check repo and branch, or deliver the "+
				"environment first.")
		case errors.Is(err, comparisonlookup.ErrNoRecord):
			p = problem.At("No rendering on the branch", problem.Sentence(err)+" Check branch and path, or deliver the "+
				"environment first.")
		}
		argument := "left"
		if side.Right {
			argument = "right"
		}
		p.Path = []problem.Step{problem.Attr(argument)}
		tfvalue.AppendProblems(diags, problem.Problems{p})
	default:
		diags.AddError("The branches can't be compared", problem.Sentence(err))
	}
}

// maxComparisonEntries limits the entries of configs, and of files, because Terraform processes each value several
// times.
const maxComparisonEntries = 10_000

// comparisonValues returns the computed attributes.
func comparisonValues(c *comparison.Comparison) tfvalue.Values {
	promoted := tfvalue.ValuesOf(c.Promoted)
	if c.Between != nil {
		promoted["commits"] = max(*c.Between, -*c.Between)
	}
	files, left := map[string][]string{}, maxComparisonEntries
	for _, d := range c.Files {
		folders := lists.Map(d.Folders[:min(left, len(d.Folders))], comparison.Folder.String)
		left -= len(folders)
		if len(folders) > 0 {
			files[d.Name] = folders
		}
	}
	return tfvalue.Values{
		"promoted": promoted, "targets": c.Targets, "placements": c.Placements, "configs": configValues(c.Configs),
		"files": files, "equal": c.Equal(), "summary": describe.Comparison(c),
	}
}

// configValues returns the differences of config values by target, cluster type and key.
func configValues(all []comparison.ConfigDifference) map[string]map[string]map[string]attr.Value {
	values := map[string]map[string]map[string]attr.Value{}
	left := maxComparisonEntries
	for _, d := range all {
		pair := tfvalue.Result(valuesType, d.Values)
		for _, f := range d.Folders[:min(left, len(d.Folders))] {
			if values[f.Target] == nil {
				values[f.Target] = map[string]map[string]attr.Value{}
			}
			if values[f.Target][f.ClusterType] == nil {
				values[f.Target][f.ClusterType] = map[string]attr.Value{}
			}
			values[f.Target][f.ClusterType][d.Key] = pair
			left--
		}
	}
	return values
}
