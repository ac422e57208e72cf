package configure

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// condition is a label value that an assignment must have, so that a config, a schema or a key of an azure-app-config
// applies to it.
type condition struct{ label, value string }

// conditions numbers the conditions of a fleet. The conditions that an assignment meets decide which configs and
// schemas apply to it. A cluster type or a deployment target has one value for each label, so its conditions are looked
// up once, by label.
type conditions struct {
	numbers map[condition]int
	labels  []string // the labels of the conditions, each once
	known   map[string]bool
}

// numbersOf returns the numbers of the conditions that labels express. Unknown labels express no condition.
func (c *conditions) numbersOf(labels map[string]string) []int {
	var needs []int
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		switch label {
		case fleet.PlatformConfigLabel, fleet.FluxOwnerLabel, fleet.FluxNamespaceLabel, unknown.Text:
			continue
		}
		cond := condition{label, labels[label]}
		if unknown.Is(cond.value) {
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
	return c.matching(ct.Labels, ct.Name, "", "")
}

func (c *conditions) ofTarget(t *fleet.DeploymentTarget) matchedConditions {
	return c.matching(t.Labels, "", t.Name, t.Workload.Name)
}

// valueOf returns the value of a label, or [unknown.Text] if it is not known.
func valueOf(labels map[string]string, label string) string {
	if _, maybe := labels[unknown.Text]; maybe {
		return unknown.Text
	}
	return labels[label]
}

// matching returns the conditions that the labels and the names of an object meet. A name that is empty, since another
// object has it, meets no condition. A label with an unknown value may meet each condition on that label.
func (c *conditions) matching(labels map[string]string, clusterType, target, workload string) matchedConditions {
	var h matchedConditions
	for _, label := range c.labels {
		var v string
		isName := true
		switch label {
		case fleet.ClusterTypeLabel:
			v = clusterType
		case fleet.DeploymentTargetLabel:
			v = target
		case fleet.WorkloadLabel:
			v = workload
		default:
			v, isName = valueOf(labels, label), false
		}
		switch n, asked := c.numbers[condition{label, v}]; {
		case isName && v == "":
		case unknown.Is(v):
			for cond, n := range c.numbers {
				if cond.label == label {
					h.possible = append(h.possible, n)
				}
			}
		case asked:
			h.met = append(h.met, n)
		}
	}
	slices.Sort(h.possible)
	h.key = mapKey([]int{len(h.met)}, h.met, h.possible)
	return h
}

// matchedConditions contains the indexes of the conditions that a cluster type or a deployment target meets (met), or
// may meet because of unknown labels (possible). key is the same for the same conditions.
type matchedConditions struct {
	met, possible []int
	key           string
}

// mapKey encodes lists of numbers as a map key.
func mapKey(lists ...[]int) string {
	var key []byte
	for _, numbers := range lists {
		for _, n := range numbers {
			key = binary.AppendUvarint(key, uint64(n)) //nolint:gosec // indexes are not negative
		}
	}
	return string(key)
}

// conditionIndex finds the configs or schemas that apply under given conditions. Each item is indexed by its rarest
// condition, so a lookup examines only few items.
type conditionIndex struct {
	needs         [][]int       // by item
	unconditional []int         // items without a condition
	byCondition   map[int][]int // items by their rarest condition
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
			a.unconditional = append(a.unconditional, i)
			continue
		}
		rarest := slices.MinFunc(numbers, func(x, y int) int { return common[x] - common[y] })
		a.byCondition[rarest] = append(a.byCondition[rarest], i)
	}
	return a
}

// matching returns two ordered lists: the items whose conditions are all met by cluster or target, and the items whose
// conditions may all be met.
func (a *conditionIndex) matching(cluster, target matchedConditions) (sure, unsure []int) {
	sets := [][]int{cluster.met, target.met, cluster.possible, target.possible}
	met, mayMeet := sets[:2], len(cluster.possible)+len(target.possible) > 0
	sure = slices.Clone(a.unconditional)
	for i, set := range sets {
		for _, n := range set {
			if anyContains(sets[:i], n) {
				continue
			}
			for _, item := range a.byCondition[n] {
				switch needs := a.needs[item]; {
				case allContained(met, needs):
					sure = append(sure, item)
				case mayMeet && allContained(sets, needs):
					unsure = append(unsure, item)
				}
			}
		}
	}
	slices.Sort(sure)
	slices.Sort(unsure)
	return sure, unsure
}

func anyContains(sets [][]int, n int) bool {
	return slices.ContainsFunc(sets, func(set []int) bool { return slices.Contains(set, n) })
}

func allContained(sets [][]int, numbers []int) bool {
	return !slices.ContainsFunc(numbers, func(n int) bool { return !anyContains(sets, n) })
}
