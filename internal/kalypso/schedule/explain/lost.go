package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// PolicyChanges names the policies that changed, and those that were removed, since deployment targets were placed.
// Both are empty if that is not known.
type PolicyChanges struct{ Changed, Removed []string }

// Lost explains in a line for each deployment target why no policy assigns it any more. Policies that changed come
// before the others. A line is "" if the assignments are not known yet.
func Lost(
	ctx context.Context, f *fleet.Fleet, s *schedule.Schedule, targets []*fleet.DeploymentTarget, changes PolicyChanges,
) []string {
	reasons := make([]string, len(targets))
	if _, all := s.Known(); !all || len(targets) == 0 {
		return reasons
	}
	e := About(ctx, f, s, lists.Map(targets, func(t *fleet.DeploymentTarget) string { return t.Name })...)
	for i, t := range targets {
		reasons[i] = e.whyLost(t, changes)
	}
	return reasons
}

// whyLost explains why no policy assigns a target any more: first by a changed policy that selects the target, or whose
// selector has a typing error; then by the policies that are gone; then by any other changed policy, or by the nearest
// one.
func (e *Explanation) whyLost(t *fleet.DeploymentTarget, changes PolicyChanges) string {
	const named = 3
	all := e.rejectionsOf(t, len(e.policies))
	changed := slices.DeleteFunc(slices.Clone(all), func(r Rejection) bool {
		return !slices.Contains(changes.Changed, r.Policy.Name)
	})
	quoted := lists.Map(changes.Removed, func(name string) string { return fmt.Sprintf("%q", name) })
	switch {
	case len(changed) > 0 && distanceOf(changed[0].Mismatches).others == 0:
		return changed[0].change()
	case len(quoted) == 1:
		return "policy " + quoted[0] + " is gone"
	case len(quoted) > 1:
		return "policies " + problem.First(quoted, named) + " are gone"
	case len(changed) > 0:
		return changed[0].change()
	case len(all) == 0:
		return NoPolicies
	case len(all[0].Mismatches) == 0:
		return fmt.Sprintf("policy %q still selects it. %s", all[0].Policy.Name, all[0].Reason)
	}
	return fmt.Sprintf("the nearest policy is %q: %s", all[0].Policy.Name, joinMismatches(all[0].Mismatches))
}

// change says how a policy changed that rejects a deployment target now.
func (r Rejection) change() string {
	policy := fmt.Sprintf("policy %q", r.Policy.Name)
	switch selects, selectsTypes := selected(r.Mismatches), selected(r.ClusterTypeMismatches); {
	case selects != "":
		return policy + " now selects " + selects
	case len(r.Mismatches) > 0:
		return policy + " changed: " + joinMismatches(r.Mismatches)
	case selectsTypes != "":
		return policy + " now selects cluster types with " + selectsTypes
	}
	return policy + " changed. " + r.Reason
}

// selected lists the labels that a selector requires, or returns "" if it requires more than equal values.
func selected(mismatches []Mismatch) string {
	if slices.ContainsFunc(mismatches, func(m Mismatch) bool {
		return m.Operator != metav1.LabelSelectorOpIn || len(m.Values) != 1
	}) {
		return ""
	}
	return strings.Join(lists.Map(mismatches, func(m Mismatch) string {
		text := fmt.Sprintf("%s %q", m.Key, m.Values[0])
		if m.meant != "" {
			text += fmt.Sprintf(" (did you mean %q?)", m.meant)
		}
		return text
	}), " and ")
}
