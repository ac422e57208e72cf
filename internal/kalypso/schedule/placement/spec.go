// Package placement decides on which of the fitting cluster types a policy places a deployment target. It implements
// the part of Open Cluster Management's Placement that is a pure function of facts known at plan. Its spread follows
// KubeFleet's topology spread constraints. It does no I/O.
package placement

import (
	"slices"
)

// The effects of a [Taint].
const (
	// NoSelect repels every deployment target that does not tolerate the taint.
	NoSelect = "NoSelect"
	// NoSelectIfNew repels only deployment targets that the cluster type does not have yet.
	NoSelectIfNew = "NoSelectIfNew"
)

// Effects lists the effects of a [Taint].
var Effects = []string{NoSelect, NoSelectIfNew}

// Taint keeps deployment targets off a cluster type, unless the policy tolerates it.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"` // one of [Effects]
}

// String returns the taint as kubectl writes it: key=value:effect.
func (t Taint) String() string {
	text := t.Key
	if t.Value != "" {
		text += "=" + t.Value
	}
	return text + ":" + t.Effect
}

// The operators of a [Toleration]. An empty operator means Equal.
const (
	Equal  = "Equal"
	Exists = "Exists"
)

// Operators lists the operators of a [Toleration].
var Operators = []string{Equal, Exists}

// Toleration lets a policy place on cluster types with a taint.
type Toleration struct {
	Key      string `json:"key,omitempty"` // empty: all taints; then the operator is Exists
	Operator string `json:"operator,omitempty"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"` // empty: all effects
}

// Tolerates reports whether the toleration tolerates the taint, by the rules of Kubernetes.
func (t Toleration) Tolerates(taint Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	return t.Operator == Exists || t.Value == taint.Value
}

// The weights of a [Preference] range from MinWeight to MaxWeight, without 0.
const (
	MinWeight     = -10
	MaxWeight     = 10
	DefaultWeight = 1
)

// Preference prefers cluster types by the value of a property, or with few deployment targets.
type Preference struct {
	Property string // empty: Balance
	Balance  bool
	Weight   int
}

// The values of [Spread.WhenUnsatisfiable]. An empty value means DoNotSchedule.
const (
	DoNotSchedule  = "DoNotSchedule"
	ScheduleAnyway = "ScheduleAnyway"
)

// Unsatisfiables lists the values of [Spread.WhenUnsatisfiable].
var Unsatisfiables = []string{DoNotSchedule, ScheduleAnyway}

// DefaultMaxSkew is the default of [Spread.MaxSkew].
const DefaultMaxSkew = 1

// Spread spreads each deployment target over the values of a label of the cluster types.
type Spread struct {
	Key               string
	MaxSkew           int
	WhenUnsatisfiable string
}

func (s Spread) hard() bool { return s.WhenUnsatisfiable != ScheduleAnyway }

// Spec is the placement of a policy.
type Spec struct {
	// Number is the number of cluster types that each deployment target gets; nil: all that fit.
	Number *int `attribute:"number_of_cluster_types"`
	// Names restricts the cluster types that the selector selects; nil: no restriction.
	Names       []string `attribute:"names,empty"`
	Tolerations []Toleration
	Prefer      []Preference
	Spread      []Spread
	// Generation is stored with decisions. If it changes, the policy forgets its earlier decisions.
	Generation string
}

// Decides reports whether the policy may choose only some of the cluster types that fit, so that its decisions are
// kept: it has a number, or a spread that skips cluster types. A nil spec places on all cluster types.
func (s *Spec) Decides() bool {
	return s != nil && (s.Number != nil || slices.ContainsFunc(s.Spread, Spread.hard))
}

// Tolerates reports whether a toleration of the policy tolerates the taint.
func (s *Spec) Tolerates(taint Taint) bool {
	return s != nil && slices.ContainsFunc(s.Tolerations, func(t Toleration) bool { return t.Tolerates(taint) })
}

// Allows reports whether the placement allows the cluster type by its name.
func (s *Spec) Allows(clusterType string) bool {
	return s == nil || s.Names == nil || slices.Contains(s.Names, clusterType)
}

func (s *Spec) balances() bool {
	return s != nil && slices.ContainsFunc(s.Prefer, func(p Preference) bool { return p.Balance })
}
