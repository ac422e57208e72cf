package resources

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// timeoutGetter returns the timeout of one operation.
type timeoutGetter func(timeouts.Value, context.Context, time.Duration) (time.Duration, diag.Diagnostics)

// readTimeout returns the timeout of an operation, or fallback if the arguments don't set it. A timeout that leaves no
// time counts as not set: a state of an earlier version may contain it, and an operation that reads the state would
// fail whatever the configuration says.
func readTimeout(
	ctx context.Context, arguments map[string]attr.Value, of timeoutGetter, fallback time.Duration,
) (time.Duration, diag.Diagnostics) {
	given, ok := arguments["timeouts"].(timeouts.Value)
	if !ok {
		return fallback, nil
	}
	limit, ds := of(given, ctx, fallback)
	if limit <= 0 {
		limit = fallback
	}
	return limit, ds
}

// A refresh and a destroy only get the state, so a timeout that was too short counts until an apply saves another one.
const (
	refreshRanOut = "A refresh takes timeouts.read from the state. If that is too short, raise it in the configuration, " +
		"and apply with -refresh=false to save it."
	destroyRanOut = "A destroy takes timeouts.delete from the state. If that is too short, raise it in the " +
		"configuration, and apply before you destroy. Add -refresh=false if the refresh runs out of time too."
)

// explainTimeout adds advice to the errors of an operation that ran out of time.
func explainTimeout(ctx context.Context, diags *diag.Diagnostics, advice string) {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return
	}
	for i, d := range *diags {
		if d.Severity() == diag.SeverityError {
			(*diags)[i] = tfvalue.Restate(d, d.Severity(), d.Summary(), d.Detail()+"\n\n"+advice)
		}
	}
}
