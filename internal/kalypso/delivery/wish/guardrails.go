package wish

import (
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Guardrails limit the effects of a change.
type Guardrails struct {
	// MaxRemoved limits the deployment target folders that one change may remove.
	MaxRemoved Limit
	// MaxKept limits the deployment target folders that the branch keeps because they fail to render. If it is empty or
	// not known yet, it is the [DefaultMaxKept].
	MaxKept Limit
	// AllowEmpty allows a change to remove all of them.
	AllowEmpty bool
	// RequireKnown refuses a plan whose assignments are not known yet.
	RequireKnown bool
	// Emptied is the reaction to cluster types that stay and lose all their deployment targets.
	Emptied problem.Reaction
	// Unscheduled is the reaction to deployment targets that no policy assigns.
	Unscheduled problem.Reaction
	// Unsatisfied is the reaction to deployment targets that get fewer cluster types than their policy asks for.
	Unsatisfied problem.Reaction
	// Moved is the reaction to deployment targets that move between cluster types.
	Moved problem.Reaction
	// DuplicateObjects is the reaction to objects that several deployment targets of a cluster type render.
	DuplicateObjects problem.Reaction
	// InvalidObjects is the reaction to rendered files that no cluster can apply.
	InvalidObjects problem.Reaction
	// Secrets is the reaction to config values that are plainly secrets.
	Secrets problem.Reaction
}

// Limit is a number, such as "12", or a percentage of a total, such as "50%". If it is empty or not known yet, it is
// the [DefaultLimit].
type Limit string

// DefaultLimit is the default of [Guardrails].MaxRemoved.
const DefaultLimit Limit = "50%"

// DefaultMaxKept is the default of [Guardrails].MaxKept.
const DefaultMaxKept Limit = "10%"

// Effective lists the guardrails with their defaults, by the names of the arguments.
func (g Guardrails) Effective() []string {
	all := []string{fmt.Sprintf("max_removed = %s", g.MaxRemoved), fmt.Sprintf("max_kept = %s", g.KeptLimit())}
	for _, policy := range []struct {
		name string
		on   bool
	}{{"allow_empty", g.AllowEmpty}, {"require_known", g.RequireKnown}} {
		all = append(all, fmt.Sprintf("%s = %t", policy.name, policy.on))
	}
	for _, reaction := range []struct {
		name string
		to   problem.Reaction
	}{
		{"emptied", g.Emptied}, {"moved", g.Moved}, {"unscheduled", g.Unscheduled}, {"unsatisfied", g.Unsatisfied},
		{"invalid_objects", g.InvalidObjects}, {"duplicate_objects", g.DuplicateObjects}, {"secrets", g.Secrets},
	} {
		all = append(all, fmt.Sprintf("%s = %s", reaction.name, reaction.to))
	}
	return all
}

// KeptLimit returns MaxKept, or its default.
func (g Guardrails) KeptLimit() Limit {
	if g.MaxKept == "" || unknown.Is(string(g.MaxKept)) {
		return DefaultMaxKept
	}
	return g.MaxKept
}

// String returns the limit as written, or the default.
func (l Limit) String() string {
	if l == "" || unknown.Is(string(l)) {
		return string(DefaultLimit)
	}
	return string(l)
}

func (l Limit) parse() (limit.Limit, error) { return limit.Parse(l.String()) }

func (l Limit) check() error {
	_, err := l.parse()
	return err
}

// Allows reports whether the limit allows to remove a part of a total.
func (l Limit) Allows(removed, total int) bool {
	parsed, err := l.parse()
	return err == nil && parsed.Allows(removed, total)
}
