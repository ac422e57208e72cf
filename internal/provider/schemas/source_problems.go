package schemas

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// AppendSourceProblems turns problems into diagnostics: one for each registration, and one for each problem of the
// control plane itself. The summary names the registration, because Terraform shows only the first of several warnings
// with the same summary.
func AppendSourceProblems(diags *diag.Diagnostics, fs source.Problems) {
	for len(fs) > 0 {
		first := fs[0]
		n := 1
		for first.Registration != "" && n < len(fs) && fs[n].Registration == first.Registration &&
			fs[n].Severity == first.Severity {
			n++
		}
		same := fs[:n]
		fs = fs[n:]
		summary, details := first.Summary, []string{}
		for _, f := range same {
			text := f.Detail
			if n > 1 {
				text = f.Summary + ": " + text
			}
			details = append(details, strings.Join(append([]string{text + "\n"}, f.Facts()...), "\n"))
		}
		switch {
		case slices.ContainsFunc(same, func(f source.Problem) bool { return f.Summary != first.Summary }):
			summary = fmt.Sprintf("%d problems with registration %q", n, first.Registration)
		case first.Registration != "":
			summary = fmt.Sprintf("Registration %q: %s", first.Registration, first.Summary)
		}
		detail := printable.Text(strings.Join(details, "\n\n"))
		if first.Severity == problem.Warning {
			diags.AddWarning(summary, detail)
		} else {
			diags.AddError(summary, detail)
		}
	}
}
