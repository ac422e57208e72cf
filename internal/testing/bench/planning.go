package main

import (
	"context"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

const manifestsRoot = `terraform {
  required_providers {
    kalypso = { source = "terraform-kalypso/kalypso" }
  }
}

resource "kalypso_environment_rendering" "this" {
  environment   = "dev"
  manifests     = { for f in fileset(path.module, "fleet/*.yaml") : f => file(f) }
  gitops_repo   = { repo = "file://%s", branch = "dev" }
  create_branch = true
  preview       = %q
  guardrails    = { unscheduled = "ignore", allow_empty = true }
%s}
`

// asManifests fills a root module with a fleet as manifests. more has more arguments of the rendering.
func asManifests(f *fleet.Fleet, preview, more string) func(*root) error {
	return func(r *root) error {
		if err := r.write(f); err != nil {
			return err
		}
		return r.configure(manifestsRoot, r.repo, preview, more)
	}
}

// planning measures Terraform with the built provider: first applies, changes, and plans without changes.
func (b *bench) planning(ctx context.Context) error {
	if err := b.measureFleet(ctx, "empty", &fleet.Fleet{}, "none", nil); err != nil {
		return err
	}
	for _, name := range []string{fleet1k, fleet10k, fleet100k} {
		f, err := load(name)
		if err != nil {
			return err
		}
		var then []change
		if name == fleet100k {
			then = changes
		}
		if err := b.measureFleet(ctx, name, f, "none", then); err != nil {
			return err
		}
		if name != fleet10k {
			continue
		}
		if err := b.measureFleet(ctx, name+"-assignments", f, "assignments", nil); err != nil {
			return err
		}
	}
	if err := b.models(ctx); err != nil {
		return err
	}
	b.planningRows()
	return b.validating(ctx)
}

// validating measures the additional time that the check for invalid files takes in a first plan.
func (b *bench) validating(ctx context.Context) error {
	f, err := load(fleet100k)
	if err != nil {
		return err
	}
	without, with := *f, *f
	without.Duplicates, with.Duplicates, with.Invalid = problem.Warn, problem.Warn, problem.Fail
	more, _, err := b.additional(ctx, "validate", &without, &with, 10)
	if err != nil {
		return err
	}
	first := b.median("first/" + fleet100k)
	b.add(row{"find invalid files in all folders of `large-100k`", more,
		"the first `terraform plan`: " + seconds(first.time), ratio(more, first), "0.10"})
	return nil
}

// measureFleet measures a fleet several times. Each time it plans and applies the fleet with an empty repo, plans it
// again without changes, and applies the changes in then.
func (b *bench) measureFleet(ctx context.Context, name string, f *fleet.Fleet, preview string, then []change) error {
	for range b.runs {
		if err := b.measureOnce(ctx, name, f, preview, then); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (b *bench) measureOnce(ctx context.Context, name string, f *fleet.Fleet, preview string, then []change) error {
	r, err := b.newRoot(ctx, asManifests(f, preview, ""))
	if err != nil {
		return err
	}
	defer r.remove()
	if err := b.measure("first/"+name, func() (sample, error) { return r.firstPlan(ctx) }); err != nil {
		return err
	}
	if err := b.measure("apply/"+name, func() (sample, error) { return r.apply(ctx) }); err != nil {
		return err
	}
	if err := b.measure("plan/"+name, func() (sample, error) { return r.plan(ctx) }); err != nil {
		return err
	}
	now, commits := f, 1
	for _, c := range then {
		for _, value := range []string{"added", "changed"} {
			if now, err = changed(now, c.which, value); err != nil {
				return err
			}
			if err := r.write(now); err != nil {
				return err
			}
			if err := b.measure("apply/"+name+"/"+c.name+"-"+value, func() (sample, error) { return r.apply(ctx) }); err != nil {
				return err
			}
			commits++
			if err := checkCommits(ctx, r.repo, "dev", commits); err != nil {
				return err
			}
		}
	}
	if len(now.ClusterTypes) == 0 {
		return nil
	}
	t, _, err := build(ctx, now)
	if err != nil {
		return err
	}
	return checkBranch(ctx, r.repo, "dev", t)
}

// models measures the fleet of [modelRoot], which consists of model resources and typed maps.
func (b *bench) models(ctx context.Context) error {
	for range b.runs {
		r, err := b.newRoot(ctx, func(r *root) error { return r.configure(modelConfiguration, r.repo) })
		if err != nil {
			return err
		}
		defer r.remove()
		if err := b.measure("apply/models", func() (sample, error) { return r.apply(ctx) }); err != nil {
			return err
		}
		if err := b.measure("plan/models", func() (sample, error) { return r.plan(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) planningRows() {
	empty, first := b.median("plan/empty"), b.median("apply/"+fleet100k)
	plan := func(what, name, bound string) {
		m := b.median("plan/" + name)
		b.add(row{what, m, "an empty fleet: " + seconds(empty.time), "+" + seconds(m.time-empty.time), bound})
	}
	plan("`terraform plan` with nothing to do, `large-100k` through `manifests`, `preview = \"none\"`", fleet100k,
		"+0.5 s")
	plan("the same for `large-10k`", fleet10k, "")
	plan("the same for `large-10k`, `preview = \"assignments\"`", fleet10k+"-assignments", "as low as can be")
	plan("the same for 50 cluster types, 100 configs, 100 workloads of three targets and 20 policies "+
		"as model resources and typed maps", "models", "as low as can be")
	b.add(row{"the first `terraform apply` of `large-100k` through `manifests`", first, "", "", ""})
	for _, c := range changes {
		// Terraform takes long to compute the diff of a text with an additional line.
		more, m := b.median("apply/"+fleet100k+"/"+c.name+"-added"), b.median("apply/"+fleet100k+"/"+c.name+"-changed")
		b.add(row{"the same after " + c.what + " came", more, "the first: " + seconds(first.time), ratio(more, first), ""})
		b.add(row{"the same after it changed", m, "the first: " + seconds(first.time), ratio(m, first), c.bound})
	}
	for _, what := range []string{"plan", "apply"} {
		small, large := b.median(what+"/"+fleet1k), b.median(what+"/"+fleet100k)
		b.add(row{"growth of the " + what + " from 1,000 to 100,000 assignments", large, seconds(small.time),
			"exponent " + exponent(small.time, large.time, 100), "1.05"})
		small, large = b.median(what+"/"+fleet10k), b.median(what+"/"+fleet100k)
		start := b.median(what + "/empty")
		b.add(row{"the same from 10,000, both without what an empty fleet takes",
			sample{time: large.time - start.time, cpu: large.cpu - start.cpu, peak: large.peak},
			seconds(small.time - start.time),
			"exponent " + exponent(small.time-start.time, large.time-start.time, 10), ""})
	}
	most := sample{}
	for _, samples := range b.samples {
		for _, s := range samples {
			most.peak = max(most.peak, s.peak)
		}
	}
	b.add(row{"the provider's peak memory in any of these runs", most, "", "", "600 MiB"})
}
