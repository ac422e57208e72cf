package schemas

import (
	"errors"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// WindowsArgument is the argument windows: the times at which changes may or must not be delivered. strict adds the
// argument strict, with which a window stops approved commits too.
func WindowsArgument(description string, strict bool) schema.ListNestedAttribute {
	attributes := map[string]schema.Attribute{
		"kind": OptionalString("`allow` or `deny`, which has precedence. If no window allows, all times that no window " +
			"denies are open. If some do, only their times are open. Required."),
		"schedule": OptionalString("When the window opens: minute, hour, day of the month, month and weekday, as in cron, " +
			"such as `0 8 * * 1-4`. If both the day of the month and the weekday are restricted, one of them is enough. When " +
			"the clocks change, a local time that is skipped does not open the window, and a local time that is repeated " +
			"opens it twice."),
		"duration": OptionalString("How long the window stays open, from `1m` to `744h` (31 days), such as `8h`. Windows " +
			"that touch or overlap count as one."),
		"time_zone": OptionalString("The zone of `schedule`, by its name in the IANA database, such as `Europe/Berlin`. " +
			"The default is `UTC`."),
		"from":   OptionalString("The beginning of a window without a schedule, such as `2026-12-20T00:00:00+01:00`."),
		"until":  OptionalString("The end of that window. At this time the window is already closed."),
		"reason": OptionalString("Why the window denies changes. Plans show it."),
	}
	if strict {
		attributes["strict"] = OptionalBool(
			"Whether a `deny` window also stops commits in `approved`. The default is `false`.")
	}
	return OptionalObjects(description, attributes)
}

// ReadWindows reads the argument windows, and whether all of it is known. It reports invalid windows.
func ReadWindows(d tfvalue.Decoder) (windows.Windows, bool) {
	for _, w := range d.Objects("windows") {
		w.ReportBlank("schedule", "duration", "time_zone", "from", "until", "reason")
	}
	parsed, ps := windows.Parse(tfvalue.ListOf[windows.Arguments](d, "windows"))
	for _, p := range ps {
		p.Path = d.At(slices.Concat([]problem.Step{problem.Attr("windows")}, p.Path)...)
		*d.Problems = append(*d.Problems, p)
	}
	return parsed, d.Known("windows")
}

// AppendWindowClosed reports a *[windows.ClosedError], and whether err is one.
func AppendWindowClosed(diags *diag.Diagnostics, err error) bool {
	var closed *windows.ClosedError
	if !errors.As(err, &closed) {
		return false
	}
	diags.AddAttributeError(path.Root(closed.Of), "The window closed", closed.Error())
	return true
}
