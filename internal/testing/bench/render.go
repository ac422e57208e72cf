package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/measure/processor"
)

// build schedules and renders a fleet.
func build(f *fleet.Fleet) (t *tree.Tree, took sample) {
	took = timed(func() {
		made, problems := engine.Run(context.Background(), f, nil)
		check(problems.Err())
		t = made.Tree
	})
	return t, took
}

// rate is a number of assignments per second.
type rate float64

// String returns the rate with its unit.
func (r rate) String() string { return fmt.Sprintf("%.0f assignments/s", float64(r)) }

// rendering measures scheduling and rendering on one core, from the objects to the hash of the tree.
func (b *bench) rendering() {
	defer onOneCore()()
	for _, name := range []string{fleet1k, fleet10k, fleet100k} {
		f := load(name)
		t := b.renders("render/"+name, f)
		if name != fleet1k {
			checkGolden(must(golden.Find(name)), t)
		}
		took := b.median("render/" + name)
		bound := ""
		if name == fleet100k {
			bound = "40,000/s"
		}
		b.add(row{"schedule + render `" + name + "` from nothing, one core", rateOf(t, took), seconds(took.time), "", bound})
		b.extending(name, f, t)
		if name == fleet10k {
			own := b.renders("render/"+name+"-own-values", withOwnValues(f, t))
			took := b.median("render/" + name + "-own-values")
			b.add(row{"the same with values of its own for every assignment", rateOf(own, took), seconds(took.time), "",
				"15,000/s"})
		}
	}
	small, large := b.median("render/"+fleet1k), b.median("render/"+fleet100k)
	b.add(row{"growth of schedule + render from 1,000 to 100,000 assignments", large, seconds(small.time),
		"exponent " + exponent(small.time, large.time, 100), "1.05"})
}

// onOneCore makes the program run on one core, until the returned function is called.
func onOneCore() (end func()) {
	cores := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(cores) }
}

// extending measures the additional time for features that not every fleet uses: comparing objects, and requirements.
func (b *bench) extending(name string, f *fleet.Fleet, t *tree.Tree) {
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
		return
	}
	more, without := b.additional("with/"+name, f, &with, pairs)
	b.add(row{what, sample{cpu: more.cpu}, "schedule + render: " + seconds(without.cpu) + " of CPU",
		fmt.Sprintf("%.2f", more.cpu.Seconds()/without.cpu.Seconds()), "0.15"})
}

// additional measures how much longer the fleet with takes than the fleet without. It is the median ratio of many pairs
// of runs, since the speed of the machine changes. It also returns the median of the fleet without.
func (b *bench) additional(name string, without, with *fleet.Fleet, pairs int) (more, of sample) {
	spent := func(name string, f *fleet.Fleet) sample {
		return b.measure(name, func() sample {
			before := processor.Time()
			_, s := build(f)
			s.cpu = processor.Time() - before
			return s
		})
	}
	times, cpus := make([]float64, pairs), make([]float64, pairs)
	for i := range pairs {
		without, with := spent(name+"/no", without), spent(name+"/yes", with)
		times[i], cpus[i] = with.time.Seconds()/without.time.Seconds()-1, with.cpu.Seconds()/without.cpu.Seconds()-1
	}
	slices.Sort(times)
	slices.Sort(cpus)
	of = b.median(name + "/no")
	more.time = time.Duration(times[pairs/2] * float64(of.time))
	more.cpu = time.Duration(cpus[pairs/2] * float64(of.cpu))
	return more, of
}

func (b *bench) renders(name string, f *fleet.Fleet) (t *tree.Tree) {
	for range b.runs {
		b.measure(name, func() (s sample) {
			t, s = build(f)
			return s
		})
	}
	return t
}

func rateOf(t *tree.Tree, took sample) rate {
	return rate(float64(t.Schedule.AssignmentCount) / took.time.Seconds())
}
