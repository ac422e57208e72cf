package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/processor"
)

// build schedules and renders a fleet.
func build(ctx context.Context, f *fleet.Fleet) (*tree.Tree, sample, error) {
	start := time.Now()
	made, problems := engine.Run(ctx, f, nil)
	return made.Tree, sample{time: time.Since(start)}, problems.Err()
}

// rate is a number of assignments per second.
type rate float64

// String returns the rate with its unit.
func (r rate) String() string { return fmt.Sprintf("%.0f assignments/s", float64(r)) }

// rendering measures scheduling and rendering on one core, from the objects to the hash of the tree.
func (b *bench) rendering(ctx context.Context) error {
	cores := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(cores)
	for _, name := range []string{fleet1k, fleet10k, fleet100k} {
		f, err := load(name)
		if err != nil {
			return err
		}
		t, err := b.renders(ctx, "render/"+name, f)
		if err != nil {
			return err
		}
		if name != fleet1k {
			g, err := golden.Find(name)
			if err != nil {
				return err
			}
			if err := checkGolden(g, t); err != nil {
				return err
			}
		}
		took := b.median("render/" + name)
		bound := ""
		if name == fleet100k {
			bound = "40,000/s"
		}
		b.add(row{"schedule + render `" + name + "` from nothing, one core", rateOf(t, took), seconds(took.time), "", bound})
		if err := b.extending(ctx, name, f, t); err != nil {
			return err
		}
		if name == fleet10k {
			own, err := b.renders(ctx, "render/"+name+"-own-values", withOwnValues(f, pairsOf(t), oneText))
			if err != nil {
				return err
			}
			took := b.median("render/" + name + "-own-values")
			b.add(row{"the same with values of its own for every assignment", rateOf(own, took), seconds(took.time), "",
				"15,000/s"})
			if err := b.findingSecrets(ctx, withOwnValues(f, pairsOf(t), tenURLs)); err != nil {
				return err
			}
		}
	}
	small, large := b.median("render/"+fleet1k), b.median("render/"+fleet100k)
	b.add(row{"growth of schedule + render from 1,000 to 100,000 assignments", large, seconds(small.time),
		"exponent " + exponent(small.time, large.time, 100), "1.05"})
	return nil
}

// extending measures the additional time for features that not every fleet uses: comparing objects, and requirements.
func (b *bench) extending(ctx context.Context, name string, f *fleet.Fleet, t *tree.Tree) error {
	var what string
	var pairs int
	with := *f
	switch name {
	case fleet10k: // nothing is delivered, so the objects in all folders are read
		what, pairs, with.Duplicates = "read and compare the objects in all folders of `large-10k`", 100, problem.Warn
	case fleet100k:
		what, pairs = "find what five requirements of every assignment of `large-100k` need", 10
		with = *withRequirements(f, t)
	default:
		return nil
	}
	more, without, err := b.additional(ctx, "with/"+name, f, &with, pairs)
	if err != nil {
		return err
	}
	b.add(row{what, sample{cpu: more.cpu}, "schedule + render: " + seconds(without.cpu) + " of CPU",
		fmt.Sprintf("%.2f", more.cpu.Seconds()/without.cpu.Seconds()), "0.15"})
	return nil
}

// additional measures how much longer the fleet with takes than the fleet without. It is the median ratio of many pairs
// of runs, since the speed of the machine changes. It also returns the median of the fleet without.
func (b *bench) additional(
	ctx context.Context, name string, without, with *fleet.Fleet, pairs int,
) (more, of sample, err error) {
	spent := func(name string, f *fleet.Fleet) (s sample, err error) {
		return s, b.measure(name, func() (sample, error) {
			before := processor.Time()
			_, s, err = build(ctx, f)
			s.cpu = processor.Time() - before
			return s, err
		})
	}
	times, cpus := make([]float64, pairs), make([]float64, pairs)
	for i := range pairs {
		without, err := spent(name+"/no", without)
		if err != nil {
			return more, of, err
		}
		with, err := spent(name+"/yes", with)
		if err != nil {
			return more, of, err
		}
		times[i], cpus[i] = with.time.Seconds()/without.time.Seconds()-1, with.cpu.Seconds()/without.cpu.Seconds()-1
	}
	slices.Sort(times)
	slices.Sort(cpus)
	of = b.median(name + "/no")
	more.time = time.Duration(times[pairs/2] * float64(of.time))
	more.cpu = time.Duration(cpus[pairs/2] * float64(of.cpu))
	return more, of, nil
}

// findingSecrets measures the search for secrets in the config values of a fleet, and compares it with the rendering.
func (b *bench) findingSecrets(ctx context.Context, f *fleet.Fleet) error {
	for range b.runs { // in turns, since the machine's load changes
		if err := b.measure("render/urls", func() (sample, error) {
			_, s, err := build(ctx, f)
			return s, err
		}); err != nil {
			return err
		}
		if err := b.measure("secrets/urls", func() (sample, error) {
			return timed(func() error {
				if found := wish.FindClearSecrets(f.Configs); len(found) > 0 {
					return fmt.Errorf("%d URLs are taken for secrets", len(found))
				}
				return nil
			})
		}); err != nil {
			return err
		}
	}
	rendered, took := b.median("render/urls"), b.median("secrets/urls")
	b.add(row{"look for secrets in the config values of a fleet with ten URLs of its own for every assignment", took,
		"its schedule + render: " + seconds(rendered.time), ratio(took, rendered), "0.05"})
	return nil
}

func (b *bench) renders(ctx context.Context, name string, f *fleet.Fleet) (t *tree.Tree, err error) {
	for range b.runs {
		if err := b.measure(name, func() (s sample, err error) {
			t, s, err = build(ctx, f)
			return s, err
		}); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func rateOf(t *tree.Tree, took sample) rate {
	return rate(float64(t.Schedule.AssignmentCount) / took.time.Seconds())
}

// pairsOf returns the assignments of a tree, each as the names of a cluster type and a deployment target.
func pairsOf(t *tree.Tree) (pairs [][2]string) {
	for _, p := range t.Schedule.Placements {
		for _, a := range p.Assignments {
			pairs = append(pairs, [2]string{p.ClusterType.Name, a.Target.Name})
		}
	}
	return pairs
}
