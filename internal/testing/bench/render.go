package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// build schedules and renders a fleet.
func build(ctx context.Context, f *fleet.Fleet) (*tree.Tree, time.Duration, error) {
	start := time.Now()
	t, problems := tree.Build(ctx, f)
	return t, time.Since(start), problems.Err()
}

// rendering measures schedule and render, from the objects to the tree's hash, on one core.
func (b *bench) rendering(ctx context.Context) error {
	cores := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(cores)
	large, err := b.load("large-10k")
	if err != nil {
		return err
	}
	t, _, err := build(ctx, large)
	if err != nil {
		return err
	}
	var pairs [][2]string
	for _, p := range t.Schedule.Placements {
		for _, a := range p.Assignments {
			pairs = append(pairs, [2]string{p.ClusterType.Name, a.Target.Name})
		}
	}
	huge, err := b.load("large-100k")
	if err != nil {
		return err
	}
	times := map[string]time.Duration{}
	for _, m := range []struct {
		name, what, bound string
		fleet             *fleet.Fleet
	}{
		{"10k", "schedule + render `large-10k`, one core", "30,000/s", large},
		{"own", "the same with values of its own for every assignment", "", withOwnValues(large, pairs)},
		{"100k", "schedule + render `large-100k`, one core", "", huge},
	} {
		count := 0
		d, err := b.median(func() (time.Duration, error) {
			t, d, err := build(ctx, m.fleet)
			if err == nil {
				count = t.Schedule.Count
			}
			return d, err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", m.what, err)
		}
		times[m.name] = d
		b.add(row{m.what, fmt.Sprintf("%.0f assignments/s", float64(count)/d.Seconds()), seconds(d), "", m.bound})
	}
	b.add(row{"growth of schedule + render from 10,000 to 100,000", exponent(times["10k"], times["100k"], 10), "", "", "exponent"})
	return nil
}
