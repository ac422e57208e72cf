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
	delivered []delivery.Place
}

type claim struct {
	place       delivery.Place
	environment string
}

// plan claims a place for an environment. Where another environment's place on the branch is equal or nested, it
// returns that path and false.
func (c *claims) plan(place delivery.Place, environment string) (other string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, taken := range c.planned {
		if taken.place.SameBranch(place) && taken.place.Nested(place) && (taken.environment != environment || taken.place != place) {
			return taken.place.Path, false
		}
	}
	c.planned = append(c.planned, claim{place, environment})
	return "", true
}

// deliver reports whether nothing was delivered to the place in this run.
func (c *claims) deliver(place delivery.Place) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.delivered, place) {
		return false
	}
	c.delivered = append(c.delivered, place)
	return true
}
