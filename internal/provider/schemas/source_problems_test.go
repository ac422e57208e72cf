package schemas_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// TestSourceProblemSummaries: the summary of a registration's diagnostic names the registration.
func TestSourceProblemSummaries(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	schemas.AppendSourceProblems(&diags, source.Problems{
		{Summary: "Folder not found"},
		{Registration: "crew", Summary: "Invalid YAML"},
		{Registration: "crew", Summary: "No workload"},
		{Registration: "galley", Summary: "Invalid YAML", File: "a.yaml"},
		{Registration: "galley", Summary: "Invalid YAML", File: "b.yaml"},
		{Registration: "booking", Summary: "Invalid YAML", Severity: problem.Warning},
		{Registration: "menu", Summary: "Invalid YAML", Severity: problem.Warning},
	})
	var got []string
	for _, d := range diags {
		got = append(got, d.Severity().String()+" "+d.Summary())
	}
	want := []string{
		"Error Folder not found",
		`Error 2 problems with registration "crew"`,
		`Error Registration "galley": Invalid YAML`,
		`Warning Registration "booking": Invalid YAML`,
		`Warning Registration "menu": Invalid YAML`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("summaries (-want +got):\n%s", diff)
	}
}
