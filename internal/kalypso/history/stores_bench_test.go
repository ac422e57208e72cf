package history_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/postgres"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/memory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/processor"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/pgserver"
)

// BenchmarkRecord records a large fleet in PostgreSQL: 10,000 clusters × 100 deployment targets. Then 10,000 instances
// change, once with Terraform's state and once without. The times include the work of the plan, which parses and
// compares the observations, and the work of the server.
func BenchmarkRecord(b *testing.B) {
	db := pgserver.Start(b)
	url := db.Database(b)
	fleet := func(hour, changed int) string {
		o := &observation.Observation{Environment: "prod", Repo: "https://acme.io/gitops", Branch: "prod", Path: ".",
			ObservedAt: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC), Head: "head", Verdict: "success"}
		for target := range 100 {
			groups := [2]observation.Group{}
			for i := range groups {
				groups[i] = observation.Group{
					Place: observation.Place{ClusterType: "edge", Target: fmt.Sprint("target-", target)},
					Condition: observation.Condition{State: "current", Version: observation.Version{
						Version: fmt.Sprint("v", i*hour), Content: fmt.Sprint(target, "-", i*hour)}}}
			}
			for cluster := range 10_000 {
				i := 0
				if cluster < changed/100 {
					i = 1
				}
				groups[i].Members = append(groups[i].Members, observation.Member{Cluster: fmt.Sprintf("cluster-%05d", cluster)})
			}
			o.Groups = append(o.Groups, groups[0], groups[1])
		}
		return o.Encode()
	}
	s, err := postgres.Open(postgres.Settings{URL: url})
	if err != nil {
		b.Fatal(err)
	}
	record := func(was, now string, changes int) {
		b.Helper()
		var r history.Write
		if was != "" {
			r.Previous, err = observation.Parse(was)
			if err != nil {
				b.Fatal(err)
			}
		}
		r.Observation, err = observation.Parse(now)
		if err != nil {
			b.Fatal(err)
		}
		if !history.Due(r.Previous, r.Observation, 0) || history.Summary(history.Compare(r.Previous, r.Observation)) == "" {
			b.Fatal("nothing is due")
		}
		done, err := s.Record(context.Background(), r)
		if err != nil || done.Changes != changes {
			b.Fatalf("%d changes, %v", done.Changes, err)
		}
	}
	first, second, third := fleet(1, 0), fleet(2, 10_000), fleet(3, 10_000)
	for _, step := range []struct {
		name     string
		was, now string
		changes  int
		within   time.Duration
	}{
		{"First", "", first, 1_000_000, 5 * time.Minute},
		{"Changes", first, second, 10_000, 30 * time.Second},
		{"StateLost", "", third, 10_000, time.Minute},
	} {
		b.Run(step.name, func(b *testing.B) {
			if b.N > 1 {
				b.Skip("a record is made once: -benchtime 1x")
			}
			own, servers := processor.Time(), db.Processor(b)
			peak := memory.Peak(func() { record(step.was, step.now, step.changes) })
			took := processor.Time() - own + db.Processor(b) - servers
			b.ReportMetric(took.Seconds(), "cpu-s")
			b.ReportMetric(float64(peak>>20), "peak-MiB")
			if took > step.within || peak > 600<<20 {
				b.Errorf("it took %s of processor time and %d MiB; the bounds are %s and 600 MiB", took, peak>>20, step.within)
			}
		})
	}
}
