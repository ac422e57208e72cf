package rollout_test

import (
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
)

// TestUseWindows: the windows are open or closed at the time of the observation. Without an observation, they can't be
// used.
func TestUseWindows(t *testing.T) {
	t.Parallel()
	night, problems := windows.Parse([]windows.Arguments{{Kind: windows.Deny, Schedule: "0 22 * * *", Duration: "8h"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	day := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	at := func(hours int) *deployment.Observation {
		return &deployment.Observation{At: day.Add(time.Duration(hours) * time.Hour)}
	}
	for name, test := range map[string]struct {
		rollout rollout.Rollout
		windows windows.Windows
		known   bool
		usable  bool
		paused  string
		unknown bool
	}{
		"no windows":         {rollout.Rollout{}, nil, true, true, "", false},
		"no observation":     {rollout.Rollout{}, night, true, false, "", false},
		"observation by day": {rollout.Rollout{Observed: at(0)}, night, true, true, "", false},
		"observation at night": {rollout.Rollout{Observed: at(11)}, night, true, true,
			"its windows are closed until 2026-11-26T06:00:00Z", false},
		"unknown observation":    {rollout.Rollout{ObservedUnknown: true}, night, true, true, "", true},
		"unknown windows":        {rollout.Rollout{Observed: at(0)}, nil, false, true, "", true},
		"unknown windows, pause": {rollout.Rollout{Pause: "an incident"}, nil, false, true, "an incident", false},
		"closed windows, pause": {rollout.Rollout{Observed: at(11), Pause: "an incident"}, night, true, true,
			"an incident", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := test.rollout
			if usable := r.UseWindows(test.windows, test.known); usable != test.usable {
				t.Errorf("usable is %t", usable)
			}
			if paused := r.Paused(); paused != test.paused || r.PauseUnknown != test.unknown {
				t.Errorf("paused %q, unknown %t", paused, r.PauseUnknown)
			}
		})
	}
}
