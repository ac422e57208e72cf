package configuration

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// configClaim is the claim of a resource to a commit status or a BaseRepo.
type configClaim struct {
	config string
	create bool
}

// take claims a key for a resource, and reports whether no other resource has claimed it. The same resource may claim
// it again: Terraform plans a resource that is replaced twice with the same configuration, as an update and as a
// create.
func (d *Data) take(key string, config tftypes.Value, create bool) bool {
	own := configClaim{config.String(), create}
	other, taken := d.configClaims.LoadOrStore(key, own)
	return !taken || other == configClaim{own.config, !own.create}
}

// ClaimStatus returns an error if another resource of this run sets the same status.
func (d *Data) ClaimStatus(a status.Arguments, config tftypes.Value, create bool) problem.Problems {
	if AnyUnknown(a.Repo, a.Context, a.Target()) || a.Repo == "" || a.Context == "" || a.Target() == "" {
		return nil
	}
	key := strings.Join([]string{"status", giturl.Key(a.Repo), a.Target(), strings.ToLower(a.Context)}, "\x00")
	if d.take(key, config, create) {
		return nil
	}
	return problem.Problems{problem.At("Conflicting commit statuses", fmt.Sprintf(
		"Another kalypso_commit_status of this configuration sets the status %q of commit %s of %s too. Each would "+
			"replace the other. Remove one of them, or give each a context of its own.", a.Context, a.Target(), a.Repo),
		"context")}
}

// ClaimBaseRepo returns an error if another resource of this run writes the BaseRepo of the same branch.
func (d *Data) ClaimBaseRepo(at baserepo.EnvironmentBranch, config tftypes.Value, create bool) problem.Problems {
	if AnyUnknown(at.Repo, at.Branch) ||
		d.take(strings.Join([]string{"base", giturl.Key(at.Repo), at.Branch}, "\x00"), config, create) {
		return nil
	}
	return problem.Problems{problem.At("Conflicting BaseRepos", fmt.Sprintf(
		"Another kalypso_base_repo of this configuration writes the BaseRepo on the %s too. Each would replace the "+
			"commit of the other. Remove one of them, or give each a branch of its own.", at), "branch")}
}
