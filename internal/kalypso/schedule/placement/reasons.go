package placement

import (
	"context"
	"fmt"
)

// Reason explains why a policy places a deployment target on a cluster type that its selector selects, or why not.
type Reason struct {
	ClusterType int
	Placed      bool
	Kept        bool // placed because it was there before
	// Fits says that no taint, name or label excludes the cluster type. Scores then lists each preference's score times
	// its weight, and Score is their sum.
	Fits   bool
	Score  int
	Scores []int  // empty without preferences
	Off    string // why the target is not placed there, as a clause; empty: it is placed
}

// Reasons repeats the decisions. For each decision that wanted accepts, it calls visit with a reason for each cluster
// type that the policy's selector selects.
func Reasons(
	ctx context.Context, f *Fleet, wanted func(policy, target int) bool, visit func(policy, target int, reasons []Reason),
) {
	p := newPass(f)
	for i := range f.Policies {
		p.trace = func(c *choice, chosen []int32) {
			if wanted(i, c.target) {
				visit(i, c.target, c.reasons(chosen))
			}
		}
		if ctx.Err() != nil || !p.policy(ctx, i) {
			return
		}
	}
}

func (d *choice) reasons(chosen []int32) []Reason {
	var scores []func(int32) int
	if d.chooser.policy.Spec != nil {
		d.chooser.score(d.fit)
		scores = d.chooser.preferences(d.fit)
	}
	for _, s := range d.chooser.spreads {
		s.start(chosen)
	}
	all := make([]Reason, len(d.chooser.policy.ClusterTypes))
	for n, i := range d.chooser.policy.ClusterTypes {
		c := int32(i) //nolint:gosec // there are no 2^31 cluster types
		r := Reason{ClusterType: i, Placed: contains(chosen, c), Kept: contains(d.kept, c)}
		r.Fits = contains(d.fit, c)
		if r.Fits && d.chooser.policy.Spec != nil {
			r.Score = d.chooser.scores[c]
			for _, scoreOf := range scores {
				r.Scores = append(r.Scores, scoreOf(c))
			}
		}
		if !r.Placed {
			r.Off = d.off(c, r.Fits, len(chosen))
		}
		all[n] = r
	}
	return all
}

// off returns the reason why a cluster type is excluded.
func (d *choice) off(c int32, fits bool, chosen int) string {
	at := d.chooser.pass.fleet.ClusterTypes[c]
	if !contains(d.chooser.selected, c) {
		return "placement names other cluster types"
	}
	for _, s := range d.chooser.spreads {
		if s.spread.hard() && s.of[c] < 0 {
			return fmt.Sprintf("it has no label %q, which the spread needs", s.spread.Key)
		}
	}
	if !fits {
		for _, taint := range at.Taints {
			if !d.chooser.policy.Spec.Tolerates(taint) {
				return fmt.Sprintf("the taint %s is not tolerated", taint)
			}
		}
	}
	if number := d.chooser.policy.Spec.number(); chosen >= number {
		return fmt.Sprintf("other cluster types already make up the number of %d", number)
	}
	if beyond := d.chooser.beyond(c); beyond != nil {
		return fmt.Sprintf("one more with the label %q %q would exceed the spread's maximum skew of %d",
			beyond.spread.Key, at.Labels[beyond.spread.Key], beyond.spread.MaxSkew)
	}
	return "the policy does not decide on it"
}

// Shortfall is a deployment target for which a policy found fewer cluster types than its number.
type Shortfall struct {
	Policy, Target int
	Found          int
}

// Shortfalls returns the shortfalls by policy, then by deployment target.
func (o *Outcome) Shortfalls() (all []Shortfall) {
	for i, policy := range o.fleet.Policies {
		if policy.Spec == nil || policy.Spec.Number == nil {
			continue
		}
		o.Each(i, func(target int, clusterTypes []int32) {
			if len(clusterTypes) < *policy.Spec.Number {
				all = append(all, Shortfall{i, target, len(clusterTypes)})
			}
		})
	}
	return all
}
