package delivery

import (
	"cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// DefaultMaxLength is the default limit of a description of a change, in characters. People read it, the state stores
// it and every plan prints it.
const DefaultMaxLength = 16384

// Review configures how a change is described to reviewers.
type Review struct {
	Known  inventory.Known // Partial: Links are not known yet
	Links  githost.Links
	Detail Detail
	Max    int // in characters, as the host allows; 0: [DefaultMaxLength], which is the maximum too
}

// Detail says how much of a change the description shows. [unknown.Text] means that it is not known yet.
type Detail string

// The details.
const (
	DetailNone   Detail = "none"   // no description; a pull request shows the keys
	DetailKeys   Detail = "keys"   // the keys
	DetailValues Detail = "values" // the keys with their old and new values
	DetailLines  Detail = "lines"  // the keys, and the lines of the rendered files that change
)

// NewReview returns a review whose links lead to a host. Without a host, it has no links.
func NewReview(host githost.Host, repo string, detail Detail) Review {
	r := Review{Detail: detail}
	if host == nil {
		return r
	}
	r.Links = pullrequest.Links(host)
	if at, err := host.Repo(repo); err == nil {
		r.Max = at.MaxBody
	}
	return r
}

// MaxLength returns the maximum length of a description in characters.
func (r Review) MaxLength() int {
	return min(cmp.Or(r.Max, DefaultMaxLength), DefaultMaxLength)
}
