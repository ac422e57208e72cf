package deployment

import "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/limit"

// Limit is a number of clusters, or a percentage of a folder's. The zero value allows none.
type Limit = limit.Limit

// ParseLimit reads "2" or "25%".
func ParseLimit(text string) (Limit, error) { return limit.Parse(text) }
