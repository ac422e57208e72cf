package provider

import (
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
)

// appendDeliveryError reports an error of reading or writing a destination, or of its host.
func appendDeliveryError(diags *diag.Diagnostics, at record.Destination, err error) {
	var host *hosting.Error
	switch {
	case appendHostSettingsError(diags, err):
	case errors.As(err, &host):
		appendHostError(diags, path.Root("gitops_repo"), err)
	default:
		appendProblems(diags, problem.Problems{delivery.NewProblem(at, err)})
	}
}
