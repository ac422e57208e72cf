package check

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// ClearSecrets reports config values that are plainly secrets, except those that the branch already contains, as the
// state s shows.
func ClearSecrets(r *next.Rendered, s *past.State) problem.Problems {
	reaction := r.Wish.Guardrails.Secrets
	if reaction == problem.Ignore || unknown.Is(string(reaction)) {
		return nil
	}
	ps := r.Secrets.Problems(s)
	for i := range ps {
		ps[i].Severity = reaction.Severity()
	}
	return ps
}
