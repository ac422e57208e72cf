package configure

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// condition is a label that a config, a schema or a key of an azure-app-config sets on the assignments it applies to.
type condition struct{ label, value string }

// conditions numbers the conditions of a fleet. Which of them hold for an assignment decides all that applies to it: they
// are looked at once a cluster type and once a deployment target, never once an assignment.
type conditions struct {
	index map[condition]int
	list  []condition
}

// of returns the numbers of the conditions that labels set.
func (c *conditions) of(labels map[string]string) []int {
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
		n, ok := c.index[cond]
		if !ok {
			n = len(c.list)
			c.index[cond] = n
			c.list = append(c.list, cond)
		}
		needs = append(needs, n)
	}
	return needs
}

func (c *conditions) onCluster(ct *fleet.ClusterType) bits {
	return c.holding(func(cond condition) bool {
		switch cond.label {
		case fleet.ClusterTypeLabel:
			return cond.value == ct.Name
		case fleet.DeploymentTargetLabel, fleet.WorkloadLabel:
			return false
		}
		return ct.Labels[cond.label] == cond.value
	})
}

func (c *conditions) onTarget(t *fleet.DeploymentTarget) bits {
	return c.holding(func(cond condition) bool {
		switch cond.label {
		case fleet.ClusterTypeLabel:
			return false
		case fleet.DeploymentTargetLabel:
			return cond.value == t.Name
		case fleet.WorkloadLabel:
			return cond.value == t.Workload.Name
		}
		return t.Labels[cond.label] == cond.value
	})
}

func (c *conditions) holding(holds func(condition) bool) bits {
	b := make(bits, (len(c.list)+63)/64)
	for i, cond := range c.list {
		if holds(cond) {
			b[i/64] |= 1 << (i % 64)
		}
	}
	return b
}

// bits is a set of condition numbers.
type bits []uint64

func (b bits) or(other bits) bits {
	union := make(bits, len(b))
	for i := range b {
		union[i] = b[i] | other[i]
	}
	return union
}

func (b bits) all(numbers []int) bool {
	for _, n := range numbers {
		if b[n/64]&(1<<(n%64)) == 0 {
			return false
		}
	}
	return true
}

func (b bits) key() string {
	key := make([]byte, 0, 8*len(b))
	for _, word := range b {
		key = binary.LittleEndian.AppendUint64(key, word)
	}
	return string(key)
}
