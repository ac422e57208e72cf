package delivery

import (
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Guardrails limit the effects of a change. A limit is a number, such as "12", or a percentage, such as "50%"; if it is
// empty or not known yet, it is the default. The first plan lists the guardrails in this order.
type Guardrails struct {
	// MaxRemoved limits the deployment target folders that one change may remove.
	MaxRemoved string
	// MaxKept limits the deployment target folders that the branch keeps because they fail to render.
	MaxKept string
	// AllowEmpty allows a change to remove all of them.
	AllowEmpty bool
	// RequireKnown refuses a plan whose assignments are not known yet.
	RequireKnown bool
	// Emptied is the reaction to cluster types that stay and lose all their deployment targets.
	Emptied problem.Reaction
	// Orphaned is the reaction to deployment targets of the fleet that leave their last cluster types.
	Orphaned problem.Reaction
	// Moved is the reaction to deployment targets that move between cluster types.
	Moved problem.Reaction
	// Unscheduled is the reaction to deployment targets that no policy assigns.
	Unscheduled problem.Reaction
	// Unsatisfied is the reaction to deployment targets that get fewer cluster types than their policy asks for.
	Unsatisfied problem.Reaction
	// Requires is the reaction to requirements of deployment targets that no target on the same cluster type satisfies.
	Requires problem.Reaction
	// InvalidObjects is the reaction to rendered files that no cluster can apply.
	InvalidObjects problem.Reaction
	// DuplicateObjects is the reaction to objects that several deployment targets of a cluster type render.
	DuplicateObjects problem.Reaction
	// Secrets is the reaction to config values that are plainly secrets.
	Secrets problem.Reaction
}

// The defaults of [Guardrails].
const (
	DefaultMaxRemoved = "50%"
	DefaultMaxKept    = "10%"
)

// RemovedLimit returns MaxRemoved, or its default. An invalid limit allows nothing.
func (g Guardrails) RemovedLimit() limit.Limit {
	parsed, _ := parseLimit(g.MaxRemoved, DefaultMaxRemoved)
	return parsed
}

// KeptLimit returns MaxKept, or its default. An invalid limit allows nothing.
func (g Guardrails) KeptLimit() limit.Limit {
	parsed, _ := parseLimit(g.MaxKept, DefaultMaxKept)
	return parsed
}

func parseLimit(text, otherwise string) (limit.Limit, error) {
	if text == "" || unknown.Is(text) {
		text = otherwise
	}
	return limit.Parse(text)
}
