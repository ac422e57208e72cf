package windows

import (
	"iter"
	"math"
	"time"

	"github.com/robfig/cron/v3"
)

const (
	never  = math.MaxInt64
	day    = 24 * 60 * 60
	minute = 60
)

// cursor goes through the openings of a window, in order. Times are Unix seconds.
type cursor struct {
	window *window
	next   func() (int64, bool) // the next opening
	stop   func()               // frees the cursor
	// The window last opened at from, until until, and opens next at ahead. They are never if it does not open.
	from, until, ahead int64
}

// newCursor returns a cursor over the openings up to limit whose windows end after now.
func newCursor(w *window, now, limit int64) *cursor {
	c := &cursor{window: w, from: never}
	c.next, c.stop = iter.Pull(w.openings(now-w.duration, limit))
	c.forward()
	return c
}

func (c *cursor) forward() {
	at, ok := c.next()
	c.ahead = at
	if !ok {
		c.ahead = never
	}
}

// isOpen reports whether the window is open at t. It goes forward to t.
func (c *cursor) isOpen(t int64) bool {
	for c.ahead <= t {
		c.from, c.until = c.ahead, c.ahead+c.window.duration
		c.forward()
	}
	return t < c.until
}

// openings yields the times from since to limit at which the window opens, in order. Within a segment of one offset,
// local time is Unix time with an offset. So a local time that a change of the clocks skips is in no segment, and one
// that it repeats is in two.
func (w *window) openings(since, limit int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		if w.schedule == nil {
			yield(w.from)
			return
		}
		for from := since; from <= limit; {
			at := time.Unix(from, 0).In(w.zone)
			_, seconds := at.Zone()
			offset := int64(seconds)
			end := limit + 1
			if _, next := at.ZoneBounds(); !next.IsZero() {
				end = min(end, next.Unix())
			}
			for midnight := floor(from + offset); midnight-offset < end; midnight += day {
				if !matches(w.schedule, midnight) {
					continue
				}
				for _, m := range w.minutes {
					if t := midnight + m*minute - offset; from <= t && t < end && !yield(t) {
						return
					}
				}
			}
			from = end
		}
	}
}

// floor returns the beginning of the day of a local time.
func floor(local int64) int64 { return local - (local%day+day)%day }

// starBit marks a field of a schedule that is a star.
const starBit = 1 << 63

// matches reports whether a schedule matches the day of a local midnight. If both the day of the month and the weekday
// are restricted, one of them is enough.
func matches(s *cron.SpecSchedule, midnight int64) bool {
	at := time.Unix(midnight, 0).UTC()
	ofMonth, ofWeek := s.Dom&(1<<at.Day()) != 0, s.Dow&(1<<at.Weekday()) != 0
	if s.Month&(1<<at.Month()) == 0 {
		return false
	}
	if s.Dom&starBit != 0 || s.Dow&starBit != 0 {
		return ofMonth && ofWeek
	}
	return ofMonth || ofWeek
}

// minutesOf returns the minutes of a day at which a schedule matches, on the days that match.
func minutesOf(s *cron.SpecSchedule) (all []int64) {
	const hours, minutes = 24, 60
	for h := range int64(hours) {
		for m := range int64(minutes) {
			if s.Hour&(1<<h) != 0 && s.Minute&(1<<m) != 0 {
				all = append(all, h*minutes+m)
			}
		}
	}
	return all
}
