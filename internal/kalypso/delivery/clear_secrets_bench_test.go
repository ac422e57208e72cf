package delivery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
)

// BenchmarkFindClearSecrets looks for secrets in all values of a fleet, and reports which share of a render's time this
// takes. The bound is 5%, even if each assignment has its own values.
func BenchmarkFindClearSecrets(b *testing.B) {
	for name, own := range map[string]bool{"large-10k": false, "large-10k with own values": true} {
		b.Run(name, func(b *testing.B) {
			f, err := golden.Named(b, "large-10k").Read()
			if err != nil {
				b.Fatal(err)
			}
			if own {
				addOwnValues(b, f)
			}
			start := time.Now()
			made, problems := engine.Run(b.Context(), f, engine.Options{})
			render := time.Since(start)
			if err := problems.Err(); err != nil || made.Tree == nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if found := delivery.FindClearSecrets(f.Configs); len(found) > 0 {
					b.Fatalf("%d secrets", len(found))
				}
			}
			b.ReportMetric(100*float64(b.Elapsed())/float64(b.N)/float64(render), "%-of-render")
		})
	}
}

// addOwnValues adds a config with ten values for each assignment.
func addOwnValues(b *testing.B, f *fleet.Fleet) {
	b.Helper()
	made, problems := engine.Run(b.Context(), f, engine.Options{})
	if err := problems.Err(); err != nil {
		b.Fatal(err)
	}
	for _, p := range made.Schedule.Placements {
		for _, a := range p.Assignments {
			data := map[string]string{}
			for i := range 10 {
				data[fmt.Sprint("KEY_", i)] = fmt.Sprintf("https://%s.acme.io:8443/path?key=%d&password=", a.Target.Name, i)
			}
			f.Configs = append(f.Configs, &fleet.Config{Data: data,
				Meta: fleet.Meta{Name: "own-" + a.Namespace, Labels: map[string]string{
					fleet.PlatformConfigLabel: "true", fleet.ClusterTypeLabel: p.ClusterType.Name,
					fleet.DeploymentTargetLabel: a.Target.Name,
				}}})
		}
	}
}
