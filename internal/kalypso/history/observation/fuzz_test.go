package observation_test

import (
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
)

// FuzzParse: an observation that is read and written again is the same.
func FuzzParse(f *testing.F) {
	o := &observation.Observation{
		Environment: "prod", Repo: "https://acme.io/gitops", Branch: "prod", Path: ".", Verdict: "success",
		ObservedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	f.Add(o.Encode())
	for _, cluster := range []string{"a", "b"} {
		o.Groups = append(o.Groups, observation.Group{
			Place:     observation.Place{ClusterType: "large", Target: "web"},
			Condition: observation.Condition{State: "current", Version: observation.Version{Version: cluster}},
			Members:   []observation.Member{{Cluster: cluster, Since: 5, Message: "late"}},
		})
	}
	o.Sort()
	f.Add(o.Encode())
	f.Add("eJw=")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := observation.Parse(text)
		if err != nil {
			return
		}
		o.Sort()
		again, err := observation.Parse(o.Encode())
		if err != nil || again.Hash() != o.Hash() {
			t.Errorf("%q is read again as another observation: %v", text, err)
		}
	})
}
