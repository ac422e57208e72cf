package status

import (
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

// Times are the times at which the last status was set and read, by the host's clock. A read keeps them for the plan,
// which makes no requests. The zero value stands for no status, or for a host that reports no times.
type Times struct {
	SetAt  time.Time `json:"set_at"`
	SeenAt time.Time `json:"seen_at"`
}

// TimesOf returns the times of a status.
func TimesOf(s githost.Status) Times { return Times{s.SetAt, s.SeenAt} }

// age returns the age of the status when it was read, or 0 if that is unknown.
func (t Times) age() time.Duration {
	if t.SetAt.IsZero() {
		return 0
	}
	return t.SeenAt.Sub(t.SetAt)
}
