package provider

import "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"

// claim claims the destination of a planned rendering for this run. It returns an error if another rendering has
// claimed an equal or nested path.
func (d *providerData) claim(desired *delivery.Desired, create bool) error {
	return d.claims.Plan(desired, create)
}
