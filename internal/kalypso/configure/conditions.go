package configure

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// condition is a label that a config, a schema or a key of an azure-app-config sets on the assignments it applies to.
type condition struct{ label, value string }

// conditions numbers the conditions of a fleet. Which of them hold for an assignment decides all that applies to it. A
// cluster type or a deployment target has one value for each label, so they are looked up by label, once for each cluster
// type and each target.
type conditions struct {
	numbers map[condition]int
	labels  []string // of the conditions, each once
	known   map[string]bool
}

// numbersOf returns the numbers of the conditions that labels set. What is not known of the labels sets none.
func (c *conditions) numbersOf(labels map[string]string) []int {
	var needs []int
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		switch label {
		case fleet.PlatformConfigLabel, fleet.FluxOwnerLabel, fleet.FluxNamespaceLabel, fleet.Unknown:
			continue
		}
		cond := condition{label, labels[label]}
		if fleet.IsUnknown(cond.value) {
			continue
		}
		n, ok := c.numbers[cond]
		if !ok {
			n = len(c.numbers)
			c.numbers[cond] = n
		}
		if !c.known[label] {
			c.known[label] = true
			c.labels = append(c.labels, label)
		}
		needs = append(needs, n)
	}
	return needs
}

func (c *conditions) ofClusterType(ct *fleet.ClusterType) matchedConditions {
	return c.matching(func(label string) (string, bool) {
		switch label {
		case fleet.ClusterTypeLabel:
			return ct.Name, true
		case fleet.DeploymentTargetLabel, fleet.WorkloadLabel:
			return "", false
		}
		return ct.Labels[label], true
	})
}

func (c *conditions) ofTarget(t *fleet.DeploymentTarget) matchedConditions {
	return c.matching(func(label string) (string, bool) {
		switch label {
		case fleet.ClusterTypeLabel:
			return "", false
		case fleet.DeploymentTargetLabel:
			return t.Name, true
		case fleet.WorkloadLabel:
			return t.Workload.Name, true
		}
		return t.Labels[label], true
	})
}

// matching returns the conditions on the values of their labels; a label without a value meets none.
func (c *conditions) matching(value func(label string) (string, bool)) matchedConditions {
	var h matchedConditions
	for _, label := range c.labels {
		if v, ok := value(label); ok {
			if n, ok := c.numbers[condition{label, v}]; ok {
				h = append(h, n)
			}
		}
	}
	return h
}

// matchedConditions are the numbers of the conditions that hold for a cluster type or a deployment target.
type matchedConditions []int

// mapKey is a map key for numbers.
func mapKey(numbers []int) string {
	var key []byte
	for _, n := range numbers {
		key = binary.AppendUvarint(key, uint64(n)) //nolint:gosec // indexes are not negative
	}
	return string(key)
}

// conditionIndex finds which of many things apply where some conditions hold, without a look at the others: each is filed
// under the rarest condition that it needs.
type conditionIndex struct {
	needs       [][]int       // by thing
	always      []int         // the things that need no condition
	byCondition map[int][]int // by condition
}

func newConditionIndex(needs [][]int) *conditionIndex {
	a := &conditionIndex{needs: needs, byCondition: map[int][]int{}}
	common := map[int]int{}
	for _, numbers := range needs {
		for _, n := range numbers {
			common[n]++
		}
	}
	for i, numbers := range needs {
		if len(numbers) == 0 {
			a.always = append(a.always, i)
			continue
		}
		rarest := slices.MinFunc(numbers, func(x, y int) int { return common[x] - common[y] })
		a.byCondition[rarest] = append(a.byCondition[rarest], i)
	}
	return a
}

// matching returns, in order, the things all of whose conditions are among those of cluster and target.
func (a *conditionIndex) matching(cluster, target matchedConditions) []int {
	holds := func(n int) bool { return slices.Contains(cluster, n) || slices.Contains(target, n) }
	found := slices.Clone(a.always)
	file := func(n int) {
		for _, i := range a.byCondition[n] {
			if !slices.ContainsFunc(a.needs[i], func(n int) bool { return !holds(n) }) {
				found = append(found, i)
			}
		}
	}
	for _, n := range cluster {
		file(n)
	}
	for _, n := range target {
		if !slices.Contains(cluster, n) {
			file(n)
		}
	}
	slices.Sort(found)
	return found
}
