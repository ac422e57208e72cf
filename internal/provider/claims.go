package provider

import (
	"slices"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
)

// claims are the places of the renderings of one run, so that two that would write into each other's folders are found
// before one does.
type claims struct {
	mu        sync.Mutex
	planned   []claim
	delivered []delivery.Destination
}

type claim struct {
	at          delivery.Destination
	environment string
	tree        string // its hash, empty where it is not known
	create      bool
}

// plan claims a place. Where another claim on the branch is equal or nested, it returns that path and false.
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

// replacedBy reports whether both claims are of one resource that is replaced, which Terraform plans as an update and
// as a create.
func (c claim) replacedBy(other claim) bool {
	other.create = !other.create
	return c == other
}

// taken reports whether a rendering that stays is at the place.
func (c *claims) taken(at delivery.Destination) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.planned, func(taken claim) bool { return taken.at.Same(at) })
}

// deliver reports whether nothing was delivered to the place in this run.
func (c *claims) deliver(at delivery.Destination) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(c.delivered, at.Same) {
		return false
	}
	c.delivered = append(c.delivered, at)
	return true
}
