package remote

import (
	"fmt"
	"slices"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Claims records the destinations of the renderings of one run of Terraform. It finds two renderings that would write
// to each other's folders. The zero value has no claims.
type Claims struct {
	mu        sync.Mutex
	planned   []claim
	removals  []claim // of planned destroys
	delivered []destination.Destination
}

type claim struct {
	at          destination.Destination
	environment string
	tree        string // its hash; empty: not known yet
	create      bool
}

// Plan claims the destination of a planned rendering. tree is the hash of the fleet's tree; "": it is not known yet.
// Plan returns an error if another rendering has claimed an equal or nested path, or for a create if this run also
// destroys the rendering there. It skips destinations that are not known yet.
func (c *Claims) Plan(a *delivery.Arguments, tree string, create bool) error {
	if !a.Delivers() || !a.Located() || unknown.Is(a.Environment) {
		return nil
	}
	claimed := claim{at: a.Destination, environment: a.Environment, tree: tree, create: create}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, other := range c.planned {
		if !other.at.SameBranch(claimed.at) || !destination.Nested(other.at.Path, claimed.at.Path) {
			continue
		}
		switch {
		case !other.replacedBy(claimed):
			return &delivery.Refusal{Kind: delivery.Overlapping, Reason: fmt.Sprintf(
				"Another rendering of this configuration writes to path %q of the same branch, this one to %q: %s. Choose paths "+
					"beside each other.",
				other.at.Path,
				a.Destination.Path,
				delivery.Nested,
			)}
		case !a.KeepOnDestroy:
			return delivery.Replaces(a.Destination, a.Environment)
		}
	}
	c.planned = append(c.planned, claimed)
	return c.checkReplaced(claimed.at)
}

// PlanDestroy claims the destination of a rendering that a destroy removes. It returns an error if this run also
// creates a rendering there.
func (c *Claims) PlanDestroy(a *delivery.Arguments) error {
	if !a.Delivers() || a.KeepOnDestroy {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removals = append(c.removals, claim{at: a.Destination, environment: a.Environment})
	return c.checkReplaced(a.Destination)
}

// checkReplaced returns an error if this run both destroys and creates a rendering at a destination.
func (c *Claims) checkReplaced(at destination.Destination) error {
	i := slices.IndexFunc(c.removals, func(r claim) bool { return r.at.Same(at) })
	created := func(claimed claim) bool { return claimed.create && claimed.at.Same(at) }
	if i < 0 || !slices.ContainsFunc(c.planned, created) {
		return nil
	}
	return delivery.Replaces(at, c.removals[i].environment)
}

// replacedBy reports whether both claims belong to one resource that is replaced. Terraform plans that as an update
// and a create.
func (c claim) replacedBy(other claim) bool {
	other.create = !other.create
	return c == other
}

// isClaimed reports whether another rendering of this run has claimed the destination.
func (c *Claims) isClaimed(at destination.Destination) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.planned, func(taken claim) bool { return taken.at.Same(at) })
}

// deliver returns an error if this run has delivered to the destination before.
func (c *Claims) deliver(at destination.Destination) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(c.delivered, at.Same) {
		return &delivery.Refusal{Kind: delivery.Overlapping, Reason: fmt.Sprintf(
			"Another rendering of this configuration has just written to %s. Give each its own path.", at)}
	}
	c.delivered = append(c.delivered, at)
	return nil
}
