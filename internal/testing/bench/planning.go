package main

import "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"

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
func asManifests(f *fleet.Fleet, preview, more string) func(*root) {
	return func(r *root) {
		r.write(f)
		r.configure(manifestsRoot, r.repo, preview, more)
	}
}

// planning measures Terraform with the built provider: first applies, changes, and plans without changes.
func (b *bench) planning() {
	b.measureFleet("empty", &fleet.Fleet{}, "none", nil)
	b.measureFleet(fleet1k, load(fleet1k), "none", nil)
	b.measureFleet(fleet10k, load(fleet10k), "none", nil)
	b.measureFleet(fleet10k+"-assignments", load(fleet10k), "assignments", nil)
	b.measureFleet(fleet100k, load(fleet100k), "none", changes)
	b.planningRows()
}

// measureFleet measures a fleet several times. Each time it plans and applies the fleet with an empty repo, plans it
// again without changes, and applies the changes in then.
func (b *bench) measureFleet(name string, f *fleet.Fleet, preview string, then []change) {
	for range b.runs {
		r := b.newRoot(asManifests(f, preview, ""))
		b.measure("first/"+name, r.firstPlan)
		b.measure("apply/"+name, r.apply)
		b.measure("plan/"+name, r.plan)
		now, commits := f, 1
		for _, c := range then {
			for _, value := range []string{"added", "changed"} {
				now = changed(now, c.which, value)
				r.write(now)
				b.measure("apply/"+name+"/"+c.name+"-"+value, r.apply)
				commits++
				checkCommits(r.repo, "dev", commits)
			}
		}
		if len(now.ClusterTypes) > 0 {
			checkBranch(r.repo, "dev", build(now))
		}
		r.remove()
	}
}

// models measures the fleet of [modelConfiguration], which consists of model resources and typed maps.
func (b *bench) models() {
	b.measureFleet("no-models", &fleet.Fleet{}, "none", nil)
	for range b.runs {
		r := b.newRoot(func(r *root) { r.configure(modelConfiguration, r.repo) })
		b.measure("apply/models", r.apply)
		b.measure("plan/models", r.plan)
		r.remove()
	}
	empty, plan := b.median("plan/no-models"), b.median("plan/models")
	against := "an empty fleet: "
	b.add(row{"`terraform plan` with nothing to do, 274 resources in HCL: 50 cluster types, 100 configs, 100 workloads " +
		"of three targets, 20 policies and three templates, in typed maps of the rendering", plan,
		against + seconds(empty.time), "+" + seconds(plan.time-empty.time), "as low as can be"})
	b.add(row{"the provider's part of it", sample{cpu: plan.provider}, against + seconds(empty.provider),
		"+" + seconds(plan.provider-empty.provider), "as low as can be"})
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
	planned := b.median("first/" + fleet100k)
	b.add(row{"the first `terraform plan` of `large-100k` through `manifests`", planned, "", "", ""})
	b.add(row{"the first `terraform apply` of `large-100k` through `manifests`", first, "", "", ""})
	for _, c := range changes {
		// An apply is a plan, and renders once more. A small change adds little to that, and a change of all folders is
		// delivered as the first apply is.
		against, text := sample{time: 2 * planned.time}, "two first plans: "
		if c.name == "all" {
			against, text = first, "the first: "
		}
		row := func(what, value, bound string) {
			m := b.median("apply/" + fleet100k + "/" + c.name + "-" + value)
			b.add(row{what, m, text + seconds(against.time), ratio(m, against), bound})
		}
		row("the same after "+c.what+" came", "added", "") // Terraform's diff of a text with one more line takes long
		row("the same after it changed", "changed", c.bound)
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
