package windows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
)

func allow(schedule, duration, zone string) windows.Arguments {
	return windows.Arguments{Kind: windows.Allow, Schedule: schedule, Duration: duration, TimeZone: zone}
}

func deny(from, until, reason string) windows.Arguments {
	return windows.Arguments{Kind: windows.Deny, From: from, Until: until, Reason: reason}
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// TestAt has rows for each rule about windows.
func TestAt(t *testing.T) {
	t.Parallel()
	office := allow("0 8 * * 1-4", "8h", "Europe/Berlin")
	holidays := deny("2026-12-20T00:00:00+01:00", "2027-01-04T00:00:00+01:00", "holidays")
	fixed := func(kind, from, until string) windows.Arguments {
		return windows.Arguments{Kind: kind, From: from, Until: until}
	}
	for name, tc := range map[string]struct {
		windows      []windows.Arguments
		now          string
		opens, until string
		waits        string // the beginning of the text; empty if the windows are open
	}{
		"no windows": {nil, "2026-11-25T20:00:00Z", "", "", ""},
		"allow, open": {[]windows.Arguments{office}, "2026-11-25T08:00:00Z", "",
			"2026-11-25T15:00:00Z", ""},
		"allow, when it opens": {[]windows.Arguments{office}, "2026-11-25T07:00:00Z", "",
			"2026-11-25T15:00:00Z", ""},
		"allow, a second before it closes": {[]windows.Arguments{office}, "2026-11-25T14:59:59Z", "",
			"2026-11-25T15:00:00Z", ""},
		"allow, when it closes": {[]windows.Arguments{office}, "2026-11-25T15:00:00Z", "2026-11-26T07:00:00Z", "",
			"waits until 2026-11-26T08:00:00+01:00 (2026-11-26T07:00:00Z): no window that allows changes is open"},
		"allow, over the weekend": {[]windows.Arguments{office}, "2026-11-26T16:00:00Z", "2026-11-30T07:00:00Z", "",
			"waits until 2026-11-30T08:00:00+01:00"},
		"deny, closed": {[]windows.Arguments{holidays}, "2026-11-25T08:00:00Z", "",
			"2026-12-19T23:00:00Z", ""},
		"deny, open": {[]windows.Arguments{holidays}, "2026-12-24T08:00:00Z", "2027-01-03T23:00:00Z", "",
			"waits until 2027-01-04T00:00:00+01:00 (2027-01-03T23:00:00Z): holidays"},
		"deny, after the last time": {[]windows.Arguments{holidays}, "2027-01-03T23:00:00Z", "", "", ""},
		"deny and allow, both open": {[]windows.Arguments{office, holidays},
			"2026-12-21T08:00:00Z", "2027-01-04T07:00:00Z", "", "waits until 2027-01-04T08:00:00+01:00 " +
				"(2027-01-04T07:00:00Z): holidays"},
		"allow open, before a short deny": {[]windows.Arguments{office,
			fixed(windows.Deny, "2026-11-25T10:00:00Z", "2026-11-25T11:00:00Z")}, "2026-11-25T08:00:00Z", "",
			"2026-11-25T10:00:00Z", ""},
		"allow open, during a short deny": {[]windows.Arguments{office,
			fixed(windows.Deny, "2026-11-25T10:00:00Z", "2026-11-25T11:00:00Z")}, "2026-11-25T10:30:00Z",
			"2026-11-25T11:00:00Z", "", "waits until 2026-11-25T11:00:00Z: a window that denies changes is open"},
		"two adjacent allows": {[]windows.Arguments{allow("0 8 * * *", "2h", ""),
			allow("0 10 * * *", "2h", "")}, "2026-11-25T08:30:00Z", "", "2026-11-25T12:00:00Z", ""},
		"two overlapping allows": {[]windows.Arguments{allow("0 10 * * *", "2h", ""), allow("0 8 * * *", "3h", "")},
			"2026-11-25T08:30:00Z", "", "2026-11-25T12:00:00Z", ""},
		"two allows with a minute between them": {[]windows.Arguments{allow("0 8 * * *", "119m", ""),
			allow("0 10 * * *", "2h", "")}, "2026-11-25T08:30:00Z", "", "2026-11-25T09:59:00Z", ""},
		"two adjacent denies": {[]windows.Arguments{
			deny("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "first"),
			deny("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", "second")}, "2026-01-01T12:00:00Z", "2026-01-03T00:00:00Z",
			"", "waits until 2026-01-03T00:00:00Z: first"},
		"allow that opens again when it closes": {[]windows.Arguments{allow("* * * * *", "1m", "")},
			"2026-11-25T08:30:30Z", "", "", ""},
		"two allows that take turns": {[]windows.Arguments{allow("*/2 * * * *", "1m", ""),
			allow("1-59/2 * * * *", "1m", "")}, "2026-11-25T08:30:30Z", "", "", ""},
		"allow on 30 February": {[]windows.Arguments{allow("0 0 30 2 *", "1h", "")}, "2026-11-25T08:30:30Z", "", "",
			"no window opens within 5 years: no window that allows changes is open"},
		"allow in the past": {[]windows.Arguments{fixed(windows.Allow, "2026-01-01T00:00:00Z",
			"2026-02-01T00:00:00Z")}, "2026-11-25T08:30:30Z", "", "", "no window opens within 5 years"},
		"deny for more than five years": {[]windows.Arguments{fixed(windows.Deny, "2026-01-01T00:00:00Z",
			"2036-02-01T00:00:00Z")}, "2026-11-25T08:30:30Z", "", "", "no window opens within 5 years"},
		"allow on the next leap day": {[]windows.Arguments{allow("0 0 29 2 *", "24h", "")}, "2026-11-25T00:00:00Z",
			"2028-02-29T00:00:00Z", "", "waits"},
		"allow on this leap day": {[]windows.Arguments{allow("0 0 29 2 *", "24h", "")}, "2028-02-29T12:00:00Z",
			"", "2028-03-01T00:00:00Z", ""},
		"allow over the end of February": {[]windows.Arguments{allow("0 12 28 2 *", "24h", "")}, "2027-03-01T00:00:00Z",
			"", "2027-03-01T12:00:00Z", ""},
		"schedule with a day of the month and a weekday": {[]windows.Arguments{allow("0 0 1 * 1", "1h", "")},
			"2026-11-25T00:00:00Z",
			"2026-11-30T00:00:00Z", "", "waits"},
		"allow for a month": {[]windows.Arguments{allow("0 0 1 1 *", "744h", "")}, "2026-01-31T23:59:59Z", "",
			"2026-02-01T00:00:00Z", ""},

		// The clocks change, in six zones. A window does not open at a time that is skipped. It opens twice at a time that
		// is repeated.
		"Berlin skips 02:30": {[]windows.Arguments{allow("30 2 * * *", "10m", "Europe/Berlin")}, "2026-03-28T12:00:00Z",
			"2026-03-30T00:30:00Z", "", "waits until 2026-03-30T02:30:00+02:00"},
		"Berlin repeats 02:30, before the first": {[]windows.Arguments{allow("30 2 * * *", "10m", "Europe/Berlin")},
			"2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z", "", "waits until 2026-10-25T02:30:00+02:00"},
		"Berlin repeats 02:30, before the second": {[]windows.Arguments{allow("30 2 * * *", "10m", "Europe/Berlin")},
			"2026-10-25T00:40:00Z", "2026-10-25T01:30:00Z", "", "waits until 2026-10-25T02:30:00+01:00"},
		"Berlin's night is nine hours long": {[]windows.Arguments{allow("0 22 * * *", "8h", "Europe/Berlin")},
			"2026-10-24T21:00:00Z", "", "2026-10-25T04:00:00Z", ""},
		"New York skips 02:00": {[]windows.Arguments{allow("0 2 * * *", "1h", "America/New_York")}, "2026-03-08T00:00:00Z",
			"2026-03-09T06:00:00Z", "", "waits until 2026-03-09T02:00:00-04:00"},
		"New York repeats 01:15": {[]windows.Arguments{allow("15 1 * * *", "1h", "America/New_York")},
			"2026-11-01T05:00:00Z", "2026-11-01T05:15:00Z", "", "waits until 2026-11-01T01:15:00-04:00"},
		"New York repeats 01:15 while the window is open": {[]windows.Arguments{allow("15 1 * * *", "1h",
			"America/New_York")},
			"2026-11-01T05:20:00Z", "", "2026-11-01T07:15:00Z", ""},
		"Lord Howe skips half an hour": {[]windows.Arguments{allow("15 2 * * *", "5m", "Australia/Lord_Howe")},
			"2026-10-03T12:00:00Z", "2026-10-04T15:15:00Z", "", "waits until 2026-10-05T02:15:00+11:00"},
		"Lord Howe repeats half an hour": {[]windows.Arguments{allow("45 1 * * *", "5m", "Australia/Lord_Howe")},
			"2026-04-04T14:50:00Z", "2026-04-04T15:15:00Z", "", "waits until 2026-04-05T01:45:00+10:30"},
		"Chatham skips 02:45": {[]windows.Arguments{allow("0 3 * * *", "5m", "Pacific/Chatham")}, "2026-09-26T12:00:00Z",
			"2026-09-27T13:15:00Z", "", "waits until 2026-09-28T03:00:00+13:45"},
		"Cairo skips midnight": {[]windows.Arguments{allow("0 0 * * 5", "5m", "Africa/Cairo")}, "2026-04-23T12:00:00Z",
			"2026-04-30T21:00:00Z", "", "waits until 2026-05-01T00:00:00+03:00"},
		"Troll skips two hours": {[]windows.Arguments{allow("30 2 * * *", "5m", "Antarctica/Troll")}, "2026-03-28T12:00:00Z",
			"2026-03-30T00:30:00Z", "", "waits until 2026-03-30T02:30:00+02:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := parse(t, tc.windows...).At(at(t, tc.now))
			if !s.OpensAt.Equal(at(t, tc.opens)) || !s.OpenUntil.Equal(at(t, tc.until)) {
				t.Errorf("the windows open at %s and are open until %s", s.OpensAt, s.OpenUntil)
			}
			switch {
			case (s.Closed == "") != (tc.waits == ""):
				t.Errorf("the state is %+v", s)
			case tc.waits != "" && !strings.HasPrefix(s.Waits(), tc.waits):
				t.Errorf("the text is %s", s.Waits())
			}
		})
	}
}

// TestClosedTextIsStable: the text about closed windows does not change until they open, even if another window denies
// changes meanwhile. Open pull requests show this text.
func TestClosedTextIsStable(t *testing.T) {
	t.Parallel()
	all := parse(t, allow("0 8 * * 1-4", "8h", "Europe/Berlin"),
		deny("2026-12-20T00:00:00+01:00", "2027-01-04T00:00:00+01:00", "holidays"))
	begin, end := at(t, "2026-12-17T15:00:00Z"), at(t, "2027-01-04T07:00:00Z")
	want := all.At(begin)
	if !want.OpensAt.Equal(end) {
		t.Fatalf("%+v", want)
	}
	for now := begin; now.Before(end); now = now.Add(7 * time.Minute) {
		if got := all.At(now); got.Closed != want.Closed || !got.OpensAt.Equal(want.OpensAt) {
			t.Fatalf("at %s, the state is %+v", now, got)
		}
	}
}

func TestStrict(t *testing.T) {
	t.Parallel()
	freeze := deny("2026-12-20T00:00:00Z", "2027-01-04T00:00:00Z", "a freeze")
	freeze.Strict = true
	month := deny("2026-12-01T00:00:00Z", "2027-02-01T00:00:00Z", "a month")
	if s := parse(t, freeze, month).At(at(t, "2026-12-24T00:00:00Z")); !s.Strict || s.Reason != "a freeze" {
		t.Errorf("%+v", s)
	}
	all := parse(t, month, freeze)
	for now, strict := range map[string]bool{
		"2026-12-19T00:00:00Z": false, "2026-12-20T00:00:00Z": true, "2027-01-04T00:00:00Z": false,
	} {
		if s := all.At(at(t, now)); s.Strict != strict || s.Reason != "a month" {
			t.Errorf("%s: %+v", now, s)
		}
	}
}

// TestAtIsFast: lists of windows that open very often or never are decided quickly. To look at each opening within five
// years would take too long.
func TestAtIsFast(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(i int) windows.Arguments{
		"every other weekday in Chatham": func(int) windows.Arguments {
			return allow("59 3 * * */2", "1m", "Pacific/Chatham")
		},
		"30 February": func(int) windows.Arguments { return allow("* * 30 2 *", "1m", "Pacific/Chatham") },
		"each minute": func(int) windows.Arguments { return allow("* * * * *", "1m", "Europe/Berlin") },
		"each minute denied": func(int) windows.Arguments {
			return windows.Arguments{Kind: windows.Deny, Schedule: "* * * * *", Duration: "1m"}
		},
		"each second minute, in turns": func(i int) windows.Arguments {
			return allow([]string{"*/2 * * * *", "1-59/2 * * * *"}[i%2], "1m", "")
		},
		"long windows of each minute": func(int) windows.Arguments { return allow("* * * * *", "744h", "") },
	} {
		t.Run(name, func(t *testing.T) {
			var all []windows.Arguments
			for i := range windows.Max {
				all = append(all, of(i))
			}
			parsed := parse(t, all...)
			began := time.Now()
			parsed.At(at(t, "2026-11-25T08:30:30Z"))
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("At took %s", took)
			} else {
				t.Log(took)
			}
		})
	}
}
