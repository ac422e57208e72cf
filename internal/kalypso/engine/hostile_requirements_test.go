package engine_test

import (
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// hostileRequirements returns cases of a Workload with as many deployment targets and requirements as it may have. The
// template loops over the required deployment targets.
func hostileRequirements() (all []hostileCase) {
	const (
		targets  = 2000
		each     = 32
		template = "a: 1 {{ range .Requires }}{{ .Name }} {{ end }}\n"
	)
	add := func(name, want string, renders bool, requirement func(target, n int) fleet.Requirement) {
		all = append(all, hostileCase{name: name, want: want, renders: renders, object: "app", run: ofFleetWith(
			func() *fleet.Fleet {
				f := teamFleet(template, "", map[string]string{"path": "./x", "repo": "r"})
				w := f.Workloads[0]
				first := w.Targets[0]
				w.Targets = nil
				for i := range targets {
					t := first
					t.Name = fmt.Sprint("t", i)
					t.Labels = map[string]string{"all": "1", "part": fmt.Sprint(i / 8)}
					for n := range each {
						if r := requirement(i, n); r.MatchLabels != nil {
							t.Requires = append(t.Requires, r)
						}
					}
					w.Targets = append(w.Targets, t)
				}
				return f
			}, engine.Options{Requires: problem.Fail})})
	}
	labelled := func(key string, value any) fleet.Requirement {
		return fleet.Requirement{MatchLabels: map[string]string{key: fmt.Sprint(value)}}
	}
	add("requirements that all targets satisfy", "Too many required deployment targets", false,
		func(_, n int) fleet.Requirement {
			r := labelled("all", 1)
			r.Workload = "app"
			if n%2 == 0 {
				r.Workload = ""
			}
			return r
		})
	add("a cycle through all targets", "Deployment targets require each other", false, func(i, n int) fleet.Requirement {
		return labelled("part", (i/8+n%2)%(targets/8))
	})
	add("the most targets that a template may loop over", "app-t872", true, func(i, n int) fleet.Requirement {
		if part := i/8 - n - 1; part >= 0 && n < each/2 {
			return labelled("part", part)
		}
		return fleet.Requirement{}
	})
	return all
}
