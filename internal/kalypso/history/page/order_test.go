package page_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/page"
)

// Version numbers decide which version is ahead. If they are not comparable, the order in an environment that ran both
// versions decides. If no environment ran both, no cell is marked.
func TestOrderOfVersions(t *testing.T) {
	at := func(days int) time.Time { return ago(time.Duration(days) * day) }
	ran := func(version string, since, until int) history.Run {
		r := history.Run{Cluster: "a", Place: observation.Place{Target: "web"}, Since: at(since),
			Condition: observation.Condition{Version: observation.Version{Version: version}, State: "current"}}
		if until > 0 {
			r.Until = at(until)
		}
		return r
	}
	type environment struct {
		version   string
		runs      []history.Run
		truncated bool
	}
	for _, tt := range []struct {
		name string
		of   []environment
		want []string
	}{
		{"equal versions", []environment{{version: "1.2"}, {version: "1.2"}}, []string{"", ""}},
		{"three version numbers", []environment{{version: "1.10.0"}, {version: "v1.9.3"}, {version: "1.2.9"}},
			[]string{"ahead", "1 behind", "2 behind"}},
		{"prod is ahead after a rollback in dev", []environment{{version: "1.2"}, {version: "1.3"}},
			[]string{"1 behind", "ahead"}},
		{"version numbers of different lengths", []environment{{version: "1.2.1"}, {version: "1.2"}},
			[]string{"ahead", "1 behind"}},
		{"two forms of one version", []environment{{version: "v1.2"}, {version: "1.2.0"}}, []string{"", ""}},
		{"a pre-release", []environment{{version: "1.2.0-rc.1"}, {version: "1.2.0"}}, []string{"1 behind", "ahead"}},
		{"two pre-releases", []environment{{version: "1.2.0-rc.1"}, {version: "1.2.0-rc.2"}}, []string{"", ""}},
		{"commits that consist of digits", []environment{{version: "12345678"}, {version: "23456789"}}, []string{"", ""}},
		{"an environment that ran both versions", []environment{
			{version: "f00", runs: []history.Run{ran("bad", 9, 5), ran("f00", 5, 0)}}, {version: "bad"}},
			[]string{"ahead", "1 behind"}},
		{"an environment that ran both and returned to the older version", []environment{
			{version: "bad", runs: []history.Run{ran("bad", 9, 5), ran("f00", 5, 2), ran("bad", 2, 0)}}, {version: "f00"}},
			[]string{"1 behind", "ahead"}},
		{"an environment that ran both, with its first runs cut off", []environment{
			{version: "bad", runs: []history.Run{ran("f00", 5, 2), ran("bad", 2, 0)}, truncated: true}, {version: "f00"}},
			[]string{"", ""}},
		{"two environments that ran one version each", []environment{{version: "f00", runs: []history.Run{ran("f00", 5, 0)}},
			{version: "bad", runs: []history.Run{ran("bad", 9, 0)}}}, []string{"", ""}},
		{"an environment without a version", []environment{{version: "1.2"}, {}}, []string{"", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var histories []page.History
			for i, e := range tt.of {
				h := page.History{Name: string(rune('a' + i)), Complete: true, Runs: e.runs, Truncated: e.truncated}
				if e.version != "" {
					h.Versions = []history.VersionCount{{Target: "web", Version: e.version, State: "current", Clusters: 1}}
				}
				histories = append(histories, h)
			}
			var got []string
			for _, c := range read(t, histories, nil).cells("web") {
				got = append(got, c.text("em"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
