package provider

import (
	"slices"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
)

// claims records the destinations of the renderings of one run, so that a plan finds two that would write into each other's
// folders.
type claims struct {
	mu        sync.Mutex
	planned   []claim
	delivered []delivery.Destination
}

type claim struct {
	at          delivery.Destination
	environment string
	tree        string // hash; "" if unknown
	create      bool
}

// plan claims a destination. If another claim on the branch is equal or nested, it returns that claim's path and false.
func (c *claims) plan(claimed claim) (other string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, taken := range c.planned {
		if taken.at.SameBranch(claimed.at) && taken.at.Nested(claimed.at) && !taken.replacedBy(claimed) {
			return taken.at.Path, false
		}
	}
	c.planned = append(c.planned, claimed)
	return "", true
}

// replacedBy reports whether both claims belong to one resource that is replaced. Terraform plans that as an update and a
// create.
func (c claim) replacedBy(other claim) bool {
	other.create = !other.create
	return c == other
}

// taken reports whether another rendering of this run goes to the destination.
func (c *claims) taken(at delivery.Destination) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.planned, func(taken claim) bool { return taken.at.Same(at) })
}

// deliver reports whether this is the first delivery of this run to the destination.
func (c *claims) deliver(at delivery.Destination) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(c.delivered, at.Same) {
		return false
	}
	c.delivered = append(c.delivered, at)
	return true
}
