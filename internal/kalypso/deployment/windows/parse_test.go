package windows_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TestParse has a row for each invalid argument, with the attribute of its problem.
func TestParse(t *testing.T) {
	t.Parallel()
	scheduled := func(schedule, duration, zone string) windows.Arguments {
		return windows.Arguments{Kind: windows.Allow, Schedule: schedule, Duration: duration, TimeZone: zone}
	}
	for name, tc := range map[string]struct {
		window          windows.Arguments
		attribute, text string
	}{
		"no kind": {windows.Arguments{Schedule: "0 8 * * *", Duration: "1h"}, "kind", "needs a kind"},
		"unknown kind": {windows.Arguments{Kind: "open", Schedule: "0 8 * * *", Duration: "1h"}, "kind",
			`"open"`},
		"only a kind": {windows.Arguments{Kind: windows.Deny}, "schedule",
			"with a duration, or from and until"},
		"no duration":     {scheduled("0 8 * * *", "", ""), "duration", "how long"},
		"four fields":     {scheduled("0 8 * *", "1h", ""), "schedule", "Expected exactly 5 fields, found 4"},
		"six fields":      {scheduled("0 0 8 * * *", "1h", ""), "schedule", "Expected exactly 5 fields, found 6"},
		"schedule @every": {scheduled("@every 1h", "1h", ""), "schedule", "does not accept descriptors"},
		"schedule @daily": {scheduled("@daily", "1h", ""), "schedule", "does not accept descriptors"},
		"schedule with a zone": {scheduled("TZ=Europe/Berlin 0 8 * * *", "1h", ""), "schedule",
			"A schedule has no zone"},
		"schedule of only a zone": {scheduled("CRON_TZ=UTC", "1h", ""), "schedule", "A schedule has no zone"},
		"minute 60":               {scheduled("60 8 * * *", "1h", ""), "schedule", "above maximum (59)"},
		"weekday 7":               {scheduled("0 8 * * 7", "1h", ""), "schedule", "above maximum (6)"},
		"empty field":             {scheduled("0 8 , * *", "1h", ""), "schedule", "A field has no value"},
		"blank schedule":          {scheduled(" ", "1h", ""), "schedule", "Expected exactly 5 fields, found 0"},
		"unknown zone": {scheduled("0 8 * * *", "1h", "Europe/Bonn"), "time_zone",
			`"Europe/Bonn" is not a time zone`},
		"zone Local": {scheduled("0 8 * * *", "1h", "Local"), "time_zone", `"Local" is not a time zone`},
		"zone localtime": {scheduled("0 8 * * *", "1h", "localtime"), "time_zone",
			`"localtime" is not a time zone`},
		"path of a file as the zone": {scheduled("0 8 * * *", "1h", "../../etc/passwd"), "time_zone", "is not a time zone"},
		"invalid duration":           {scheduled("0 8 * * *", "8 hours", ""), "duration", `"8 hours" is not a duration`},
		"duration below a minute":    {scheduled("0 8 * * *", "59s", ""), "duration", "not a duration from 1m to 744h"},
		"negative duration":          {scheduled("0 8 * * *", "-1h", ""), "duration", "not a duration from 1m to 744h"},
		"duration above 31 days":     {scheduled("0 8 * * *", "744h1s", ""), "duration", "744h (31 days)"},
		"schedule and times": {windows.Arguments{Kind: windows.Deny, Schedule: "0 8 * * *", Duration: "1h",
			From:  "2026-01-01T00:00:00Z",
			Until: "2026-01-02T00:00:00Z"}, "from", "Remove one of the two"},
		"zone and times": {windows.Arguments{Kind: windows.Deny, TimeZone: "UTC", From: "2026-01-01T00:00:00Z",
			Until: "2026-01-02T00:00:00Z"}, "from", "a zone of their own"},
		"no end":       {deny("2026-01-01T00:00:00Z", "", ""), "until", "needs from and until"},
		"no beginning": {deny("", "2026-01-01T00:00:00Z", ""), "from", "needs from and until"},
		"date instead of a time": {deny("2026-01-01", "2026-01-02T00:00:00Z", ""), "from",
			`"2026-01-01" is not a time with a zone`},
		"time without a zone": {deny("2026-01-01T00:00:00Z", "2026-01-02T00:00:00", ""), "until",
			"is not a time with a zone"},
		"end before the beginning": {deny("2026-01-02T00:00:00Z", "2026-01-02T00:30:00+01:00", ""), "until",
			"not after its beginning"},
		"end at the beginning": {deny("2026-01-02T00:00:00Z", "2026-01-02T01:00:00+01:00", ""), "until",
			"not after its beginning"},
		"strict without deny": {windows.Arguments{Kind: windows.Allow, Schedule: "0 8 * * *", Duration: "1h", Strict: true},
			"strict", "a window that denies"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			valid := allow("0 8 * * *", "1h", "")
			parsed, ps := windows.Parse([]windows.Arguments{valid, tc.window})
			if len(parsed) != 1 || len(ps) != 1 || !strings.Contains(ps[0].Detail, tc.text) ||
				fmt.Sprint(ps[0].Path) != fmt.Sprint([]problem.Step{problem.Index(1), problem.Attr(tc.attribute)}) {
				t.Errorf("%d windows; %+v", len(parsed), ps)
			}
		})
	}
}

func TestParseReportsAll(t *testing.T) {
	t.Parallel()
	_, ps := windows.Parse([]windows.Arguments{
		{Kind: "open", Schedule: "x", Duration: "y", TimeZone: "z"}, deny("a", "b", ""),
	})
	if len(ps) != 6 {
		t.Errorf("%d problems: %v", len(ps), ps)
	}
	if _, ps := windows.Parse(make([]windows.Arguments, windows.Max+1)); len(ps) != 1 || len(ps[0].Path) != 0 ||
		!strings.Contains(ps[0].Detail, "There are 101 windows, and at most 100 are allowed") {
		t.Errorf("%+v", ps)
	}
}

// TestParseUnknown: an unknown argument is no problem. The known arguments of the same window are checked.
func TestParseUnknown(t *testing.T) {
	t.Parallel()
	for _, w := range []windows.Arguments{
		{Kind: unknown.Text, Schedule: "0 8 * * *", Duration: "1h"},
		allow(unknown.Text, "1h", ""), allow("0 8 * * *", unknown.Text, ""), allow("0 8 * * *", "1h", unknown.Text),
		deny(unknown.Text, "2026-01-02T00:00:00Z", ""), deny("2026-01-02T00:00:00Z", unknown.Text, ""),
		deny("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", unknown.Text),
		{Kind: unknown.Text, Schedule: unknown.Text, Duration: unknown.Text, TimeZone: unknown.Text, From: unknown.Text,
			Until: unknown.Text, Reason: unknown.Text},
	} {
		if parsed, ps := windows.Parse([]windows.Arguments{w}); len(parsed) != 0 || len(ps) != 0 {
			t.Errorf("%+v: %v, %v", w, parsed, ps)
		}
	}
	if _, ps := windows.Parse([]windows.Arguments{allow(unknown.Text, "9000h", "Local")}); len(ps) != 2 {
		t.Errorf("%v", ps)
	}
}
