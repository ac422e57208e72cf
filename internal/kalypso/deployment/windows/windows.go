// Package windows decides when changes may go: in the windows that people allow, and never in those that they deny.
//
// Argo CD's sync windows are the model. Time is divided into segments in which a zone has one offset, so changes of the
// clocks need no rule of their own: a local time that they skip is in no segment, and one that they repeat is in two.
package windows

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // so that every machine knows the same zones

	"github.com/robfig/cron/v3"
)

// Bounds of windows.
const (
	// Max limits the windows of a list.
	Max = 100
	// MinDuration and MaxDuration limit how long a window stays open after it opened.
	MinDuration = time.Minute
	MaxDuration = 31 * 24 * time.Hour
	// Horizon is the number of years after which no further opening or closing is searched.
	Horizon = 5
)

// The kinds of a window. Deny beats allow.
const (
	Allow = "allow" // changes may go
	Deny  = "deny"  // no change may go
)

// Kinds lists the kinds of a window.
var Kinds = []string{Allow, Deny}

// Windows is a list of windows. Without a window that allows, all times are open but those denied; with one, the times
// of any that allows alone.
type Windows []*window

// window is a period, or periods that begin by a schedule.
type window struct {
	deny, strict bool
	reason       string
	zone         *time.Location // of texts, and of the schedule
	from         int64          // the only opening of a window without a schedule, in Unix seconds
	schedule     *cron.SpecSchedule
	duration     int64 // in seconds
	// minutes are the minutes of a day at which the schedule opens the window, on the days that match.
	minutes []int64
}

// State says whether changes may go at a moment. The zero value is open, for ever.
type State struct {
	// Closed says until when no change may go, such as "closed until 2027-01-04T08:00:00+01:00
	// (2027-01-04T07:00:00Z)"; "": changes may go. It stays the same until the windows open.
	Closed string
	Reason string // why they are closed
	Strict bool   // they are closed for approved changes too
	// OpensAt is the time at which closed windows open next, and OpenUntil the time at which open ones close next. They
	// are zero if that does not come within [Horizon] years.
	OpensAt, OpenUntil time.Time
}

// Waits says until when a change waits, and why.
func (s State) Waits() string {
	if s.OpensAt.IsZero() {
		return fmt.Sprintf("no window opens within %d years: %s", Horizon, s.Reason)
	}
	return fmt.Sprintf("waits until %s: %s", s.Closed[len(closedUntil):], s.Reason)
}

const closedUntil = "closed until "

// At returns the state at a moment. A window is open from its opening on, and no longer open at its end.
func (w Windows) At(now time.Time) (state State) {
	if len(w) == 0 {
		return State{}
	}
	s := newSearch(w, now)
	defer func() {
		for _, c := range slices.Concat(s.allows, s.denys) {
			c.stop()
		}
	}()
	open := s.open(s.now)
	if !open {
		for _, c := range s.denys {
			if c.isOpen(s.now) {
				state.Reason, state.Strict = cmp.Or(state.Reason, c.window.reason), state.Strict || c.window.strict
			}
		}
		state.Reason = cmp.Or(state.Reason, "no window that allows changes is open")
	}
	at, zone := s.change()
	switch {
	case open && zone != nil:
		state.OpenUntil = time.Unix(at, 0).UTC()
	case open:
	case zone != nil:
		state.OpensAt = time.Unix(at, 0).UTC()
		state.Closed = closedUntil + inZone(state.OpensAt, zone)
	default:
		state.Closed = fmt.Sprintf("closed for at least %d years", Horizon)
	}
	return state
}

// ClosedError means that an apply of a plan that was made in an open window began after the window closed.
type ClosedError struct {
	At time.Time
	Of string // the argument that the window belongs to
}

// Error implements error.
func (e *ClosedError) Error() string {
	return fmt.Sprintf("The window closed at %s; plan again. The plan was made while it was open, and nothing was "+
		"written.", e.At.UTC().Format(time.RFC3339))
}

// CheckOpen returns a *[ClosedError] if a window that closes at until is not open any more. Zero: it does not close.
func CheckOpen(until, now time.Time, of string) error {
	if until.IsZero() || now.Before(until) {
		return nil
	}
	return &ClosedError{At: until, Of: of}
}

// inZone formats a time in a zone and in UTC.
func inZone(t time.Time, zone *time.Location) string {
	utc, local := t.UTC().Format(time.RFC3339), t.In(zone).Format(time.RFC3339)
	if local == utc {
		return utc
	}
	return fmt.Sprintf("%s (%s)", local, utc)
}

// search looks for the next change of the state. Its cursors only go forward.
type search struct {
	now, limit    int64
	allows, denys []*cursor
}

func newSearch(w Windows, now time.Time) *search {
	s := &search{now: now.Unix(), limit: now.AddDate(Horizon, 0, 0).Unix()}
	for _, of := range w {
		c := newCursor(of, s.now, s.limit)
		if of.deny {
			s.denys = append(s.denys, c)
		} else {
			s.allows = append(s.allows, c)
		}
	}
	return s
}

// open reports whether changes may go.
func (s *search) open(t int64) bool {
	isOpen := func(c *cursor) bool { return c.isOpen(t) }
	return !slices.ContainsFunc(s.denys, isOpen) && (len(s.allows) == 0 || slices.ContainsFunc(s.allows, isOpen))
}

// change returns the time at which the state changes, and the zone of the window that changes it, or nil if none does
// before the limit.
func (s *search) change() (int64, *time.Location) {
	open := s.open(s.now)
	for t := s.now; ; {
		t = s.lasts(t, open)
		if t >= s.limit {
			return 0, nil
		}
		if s.open(t) != open {
			return t, s.zoneAt(t)
		}
	}
}

// lasts returns a time up to which the state at t stays: at least one window opens or closes then.
func (s *search) lasts(t int64, open bool) int64 {
	until := s.limit
	if !open {
		for _, c := range s.denys {
			if c.isOpen(t) {
				return c.until
			}
		}
		for _, c := range s.allows {
			until = min(until, c.ahead)
		}
		return until
	}
	for _, c := range s.allows {
		if c.isOpen(t) {
			until = c.until
			break
		}
	}
	for _, c := range s.denys {
		until = min(until, c.ahead)
	}
	return until
}

// zoneAt returns the zone of the first window that opens or closes at t.
func (s *search) zoneAt(t int64) *time.Location {
	for _, c := range slices.Concat(s.allows, s.denys) {
		c.isOpen(t)
		if c.from == t || c.until == t {
			return c.window.zone
		}
	}
	return time.UTC
}
