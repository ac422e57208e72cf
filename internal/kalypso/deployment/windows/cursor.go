package windows

import (
	"math"
	"sort"
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
	limit  int64 // no opening after it is searched
	// The window last opened at from, until until, and opens next at ahead. They are never if it does not open.
	from, until, ahead int64

	// The next opening is searched in a segment of time in which the zone has one offset, from a day and an index of
	// minutes on.
	offset, segmentEnd int64
	day                int64 // since 1970 in local time
	index              int
}

func newCursor(w *window, now, limit int64) *cursor {
	c := &cursor{window: w, limit: limit, from: never, ahead: w.from}
	if w.schedule != nil {
		c.enter(now - w.duration)
		c.ahead = c.opening()
	}
	return c
}

// isOpen reports whether the window is open at t. It goes forward to t.
func (c *cursor) isOpen(t int64) bool {
	for c.ahead <= t {
		c.from, c.until = c.ahead, c.ahead+c.window.duration
		c.ahead = c.opening()
	}
	return t < c.until
}

// enter begins a search of openings from t on. Within a segment of one offset, local time is Unix time with an offset.
// So a local time that a change of the clocks skips is in no segment, and one that it repeats is in two.
func (c *cursor) enter(t int64) {
	at := time.Unix(t, 0).In(c.window.zone)
	_, offset := at.Zone()
	c.offset, c.segmentEnd = int64(offset), never
	if _, end := at.ZoneBounds(); !end.IsZero() {
		c.segmentEnd = end.Unix()
	}
	local := t + c.offset
	number := local / day
	if local%day < 0 {
		number--
	}
	c.begin(number, local-number*day)
}

// begin goes to a second of a day in local time.
func (c *cursor) begin(number, second int64) {
	c.day, c.index = number, len(c.window.minutes)
	if matches(c.window.schedule, number) {
		c.index = sort.Search(len(c.window.minutes), func(i int) bool { return c.window.minutes[i]*minute >= second })
	}
}

// opening returns the next opening, or never if there is none up to the limit.
func (c *cursor) opening() int64 {
	if c.window.schedule == nil {
		return never
	}
	for {
		begins := c.day*day - c.offset
		switch {
		case min(begins, c.segmentEnd) > c.limit:
			return never
		case begins >= c.segmentEnd:
			c.enter(c.segmentEnd)
			continue
		case c.index == len(c.window.minutes):
			c.begin(c.day+1, 0)
			continue
		}
		at := begins + c.window.minutes[c.index]*minute
		if at >= c.segmentEnd {
			c.enter(c.segmentEnd)
			continue
		}
		c.index++
		return at
	}
}

// starBit marks a field of a schedule that is a star.
const starBit = 1 << 63

// matches reports whether a schedule matches a day. If both the day of the month and the weekday are restricted, one of
// them is enough.
func matches(s *cron.SpecSchedule, number int64) bool {
	year, month, date := time.Unix(number*day, 0).UTC().Date()
	weekday := time.Date(year, month, date, 0, 0, 0, 0, time.UTC).Weekday()
	ofMonth, ofWeek := s.Dom&(1<<date) != 0, s.Dow&(1<<weekday) != 0
	if s.Month&(1<<month) == 0 {
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
