package windows

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// Arguments are a window as people write it: a schedule with a duration and a zone, or the times from and until. "" is
// an argument that is not set, and [unknown.Text] one that is not known yet.
type Arguments struct {
	Kind, Reason                 string
	Schedule, Duration, TimeZone string
	From, Until                  string
	Strict                       bool
}

// Parse reads windows. The paths of problems begin at the list. Windows with an unknown argument are left out.
func Parse(all []Arguments) (windows Windows, ps problem.Problems) {
	if len(all) > Max {
		return nil, problem.Problems{{Summary: "Too many windows",
			Detail: fmt.Sprintf("There are %d windows, and at most %d are allowed. Merge windows: a schedule can list "+
				"several days and hours.", len(all), Max)}}
	}
	for i, a := range all {
		p := parser{in: a, at: problem.Index(i)}
		w := p.parse()
		ps = append(ps, p.problems...)
		if len(p.problems) == 0 && !p.unknown() {
			windows = append(windows, w)
		}
	}
	return windows, ps
}

// parser reads one window.
type parser struct {
	in       Arguments
	at       problem.Step
	problems problem.Problems
}

func (p *parser) report(argument, summary, format string, args ...any) {
	p.problems = append(p.problems, problem.Problem{
		Summary: summary, Detail: fmt.Sprintf(format, args...), Path: []problem.Step{p.at, problem.Attr(argument)},
	})
}

func (p *parser) unknown() bool {
	return slices.ContainsFunc([]string{p.in.Kind, p.in.Reason, p.in.Schedule, p.in.Duration, p.in.TimeZone, p.in.From,
		p.in.Until}, unknown.Is)
}

func (p *parser) parse() *window {
	w := &window{deny: p.in.Kind == Deny, strict: p.in.Strict, zone: time.UTC}
	w.reason = cmp.Or(p.in.Reason, "a window that denies changes is open")
	switch {
	case p.in.Kind == "":
		p.report("kind", "Missing kind", "Each window needs a kind: %s, or %s.", Allow, Deny)
	case !unknown.Is(p.in.Kind) && !slices.Contains(Kinds, p.in.Kind):
		p.report("kind", "Invalid kind", "%q is not one of %s.", p.in.Kind, strings.Join(Kinds, ", "))
	case p.in.Strict && p.in.Kind == Allow:
		p.report("strict", "Conflicting arguments", "strict stops approved commits, so it belongs to a window that denies. "+
			"Remove it, or set kind = %q.", Deny)
	}
	scheduled, fixed := given(p.in.Schedule, p.in.Duration, p.in.TimeZone), given(p.in.From, p.in.Until)
	switch {
	case scheduled && fixed:
		p.report("from", "Conflicting arguments", "A window has a schedule with a duration, or from and until, which have "+
			"a zone of their own. Remove one of the two.")
	case fixed:
		p.parseTimes(w)
	case scheduled || !p.unknown():
		p.parseSchedule(w)
	}
	return w
}

// given reports whether one of the arguments is set, and known.
func given(all ...string) bool {
	return slices.ContainsFunc(all, func(text string) bool { return text != "" && !unknown.Is(text) })
}

// parseTimes reads from and until.
func (p *parser) parseTimes(w *window) {
	from := p.parseTime("from", p.in.From)
	until := p.parseTime("until", p.in.Until)
	if !from.IsZero() && !until.IsZero() && !from.Before(until) {
		p.report("until", "Invalid time", "The window ends at %s, which is not after its beginning at %s.", p.in.Until,
			p.in.From)
	}
	w.from, w.duration, w.zone = from.Unix(), until.Unix()-from.Unix(), until.Location()
}

func (p *parser) parseTime(name, text string) time.Time {
	if text == "" {
		p.report(name, "Missing time", "A window without a schedule needs from and until.")
	}
	if text == "" || unknown.Is(text) {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		p.report(name, "Invalid time", "%q is not a time with a zone, such as 2026-12-20T00:00:00+01:00.", text)
	}
	return t
}

// parseSchedule reads a schedule with its duration and zone.
func (p *parser) parseSchedule(w *window) {
	if p.in.Schedule == "" {
		p.report("schedule", "Missing schedule", "A window needs a schedule with a duration, or from and until.")
		return
	}
	w.zone = p.parseZone()
	w.duration = p.parseDuration()
	if unknown.Is(p.in.Schedule) {
		return
	}
	var err error
	w.schedule, err = parseCron(p.in.Schedule)
	if err != nil {
		p.report("schedule", "Invalid schedule", "%q: %s Write five fields: minute, hour, day of the month, month and "+
			"weekday, such as \"0 8 * * 1-4\". The zone belongs to time_zone.", p.in.Schedule, problem.Sentence(err))
		return
	}
	w.minutes = minutesOf(w.schedule)
}

func (p *parser) parseZone() *time.Location {
	name := p.in.TimeZone
	if name == "" || unknown.Is(name) {
		return time.UTC
	}
	zone, err := time.LoadLocation(name)
	if err != nil || strings.EqualFold(name, "Local") || strings.EqualFold(name, "localtime") {
		p.report("time_zone", "Invalid time zone", "%q is not a time zone of the IANA database, such as Europe/Berlin. The "+
			"default is UTC.", name)
		return time.UTC
	}
	return zone
}

func (p *parser) parseDuration() int64 {
	switch {
	case p.in.Duration == "":
		p.report("duration", "Missing duration", "A schedule says when the window opens. Set how long it stays open, such "+
			"as 8h.")
		return 0
	case unknown.Is(p.in.Duration):
		return 0
	}
	d, err := time.ParseDuration(p.in.Duration)
	if err != nil || d < MinDuration || d > MaxDuration || d%time.Second != 0 {
		p.report("duration", "Invalid duration", "%q is not a duration from %s to %s (31 days) in whole seconds, such as "+
			"90m or 8h.", p.in.Duration, clock.Format(MinDuration), clock.Format(MaxDuration))
	}
	return int64(d / time.Second)
}

// parseCron parses the five fields of a schedule.
func parseCron(text string) (*cron.SpecSchedule, error) {
	if strings.Contains(text, "TZ=") { // the library would take the zone from it
		return nil, errors.New("a schedule has no zone")
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(text)
	if err != nil {
		return nil, err
	}
	schedule, ok := parsed.(*cron.SpecSchedule)
	if !ok || slices.Contains([]uint64{schedule.Minute, schedule.Hour, schedule.Dom, schedule.Month, schedule.Dow}, 0) {
		return nil, errors.New("a field has no value")
	}
	return schedule, nil
}
