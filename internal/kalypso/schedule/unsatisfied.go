package schedule

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// CheckUnsatisfied reports deployment targets that got fewer cluster types than a policy's number. It is an error if
// targets were placed before and no cluster type fits any more, unless the guardrail ignores them. Otherwise, a taint
// that was set by mistake could empty a fleet.
func (s *Schedule) CheckUnsatisfied(
	ctx context.Context, f *fleet.Fleet, reaction problem.Reaction,
) (ps problem.Problems) {
	if s.placement == nil || reaction == problem.Ignore || unknown.Is(string(reaction)) {
		return nil
	}
	at := []problem.Step{problem.Attr("guardrails"), problem.Attr("unsatisfied")}
	lost := s.lost()
	if len(lost) > 0 {
		ps = append(ps, problem.Problem{
			Path: at, Summary: "Deployment targets fit no cluster type any more",
			Detail: fmt.Sprintf("%s of environment %q %s placed before, but no cluster type fits any more:\n%s\n%s To let them "+
				"go, set guardrails.unsatisfied = \"ignore\".",
				problem.Count(len(lost), "deployment target"), f.Environment, wasOrWere(len(lost)), s.lines(ctx, lost),
				s.advice(f, lost)),
		})
	}
	isLost := make([]bool, len(s.Targets))
	for _, l := range lost {
		isLost[l.Target] = true
	}
	short := slices.DeleteFunc(s.outcome.Shortfalls(), func(s placement.Shortfall) bool { return isLost[s.Target] })
	if len(short) > 0 {
		ps = append(ps, problem.Problem{
			Severity: reaction.Severity(), Path: at, Summary: "Fewer cluster types than placement asks for",
			Detail: fmt.Sprintf("%s of environment %q: fewer cluster types fit than %s asks for.\n%s\nAdd cluster types, "+
				"tolerate taints, or lower the number.", problem.Count(len(short), "decision"), f.Environment,
				f.PolicyField("number_of_cluster_types"), s.lines(ctx, short)),
		})
	}
	return ps
}

// advice returns the changes that would let the lost targets fit again, one for each reason that excludes cluster
// types.
func (s *Schedule) advice(f *fleet.Fleet, lost []placement.Shortfall) string {
	var selected, named, tainted, others bool
	for _, short := range lost {
		p := s.placement.Policies[short.Policy]
		selected = selected || len(p.ClusterTypes) == 0
		for _, c := range p.ClusterTypes {
			ct := s.placement.ClusterTypes[c]
			switch {
			case !p.Spec.Allows(ct.Name):
				named = true
			case slices.ContainsFunc(ct.Taints, func(t placement.Taint) bool { return !p.Spec.Tolerates(t) }):
				tainted = true
			default:
				others = true
			}
		}
	}
	var all []string
	for _, a := range []struct {
		is   bool
		text string
	}{
		{tainted, "Remove the taint, or tolerate it in " + f.PolicyField("tolerations") + "."},
		{named, "Name an existing cluster type in " + f.PolicyField("placement") + "."},
		{selected, "Label a cluster type so that " + f.PolicyField("cluster_type_selector") + " selects it."},
		{others, "Change the spread, or label cluster types for it."},
	} {
		if a.is {
			all = append(all, a.text)
		}
	}
	return strings.Join(all, " ")
}

func wasOrWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// lost returns the deployment targets that were placed before and that no policy places any more, each with the first
// policy that selects it.
func (s *Schedule) lost() (all []placement.Shortfall) {
	if len(s.placement.Prior.Placed) == 0 {
		return nil
	}
	unscheduled := map[int]bool{}
	n := 0
	for i, t := range s.Targets { // both lists have the same order
		if n < len(s.Unscheduled) && s.Unscheduled[n] == t {
			unscheduled[i] = len(s.placement.Prior.Placed[t.Name]) > 0
			n++
		}
	}
	for i, p := range s.placement.Policies {
		if !p.Spec.Decides() && len(p.ClusterTypes) == 0 {
			continue
		}
		for _, t := range p.Targets {
			if unscheduled[t] {
				all = append(all, placement.Shortfall{Policy: i, Target: t})
				unscheduled[t] = false
			}
		}
	}
	slices.SortFunc(all, func(a, b placement.Shortfall) int { return a.Target - b.Target })
	return all
}

// lines describes, for each shortfall, why cluster types are excluded.
func (s *Schedule) lines(ctx context.Context, shortfalls []placement.Shortfall) string {
	type decision struct{ policy, target int }
	texts := map[decision]string{}
	for _, short := range shortfalls[:min(len(shortfalls), problem.MaxListed)] {
		texts[decision{short.Policy, short.Target}] = ""
	}
	placement.Reasons(ctx, s.placement, func(policy, target int) bool {
		_, ok := texts[decision{policy, target}]
		return ok
	}, func(policy, target int, reasons []placement.Reason) {
		texts[decision{policy, target}] = s.reasonsOff(reasons)
	})
	all := make([]string, len(shortfalls))
	for i, short := range shortfalls {
		policy := s.placement.Policies[short.Policy]
		all[i] = fmt.Sprintf("%s by %q", s.placement.Targets[short.Target], policy.Name)
		if policy.Spec != nil && policy.Spec.Number != nil {
			all[i] += fmt.Sprintf(": %d of %d", short.Found, *policy.Spec.Number)
		}
		if text := texts[decision{short.Policy, short.Target}]; text != "" {
			all[i] += "; " + text
		}
	}
	return problem.IndentedList(all, problem.MaxListed)
}

// reasonsOff lists each reason that excludes cluster types once, with these cluster types.
func (s *Schedule) reasonsOff(reasons []placement.Reason) string {
	const named = 5
	var order []string
	names := map[string][]string{}
	for _, r := range reasons {
		if r.Off == "" {
			continue
		}
		if names[r.Off] == nil {
			order = append(order, r.Off)
		}
		names[r.Off] = append(names[r.Off], s.placement.ClusterTypes[r.ClusterType].Name)
	}
	if len(order) == 0 {
		return "the selector selects no other cluster type"
	}
	for i, off := range order {
		order[i] = problem.First(names[off], named) + ": " + off
	}
	return strings.Join(order, "; ")
}
