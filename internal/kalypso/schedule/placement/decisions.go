package placement

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Decisions maps the names of policies to their decisions.
type Decisions map[string]PolicyDecisions

// PolicyDecisions maps deployment targets to the cluster types that a policy chose, sorted. A target for which the
// policy found no cluster type has an empty entry.
type PolicyDecisions struct {
	Generation string
	Targets    map[string][]string
}

// PriorResults contains the results of earlier passes.
type PriorResults struct {
	Decisions Decisions
	// Placed maps each deployment target to the cluster types on which any policy placed it, sorted.
	Placed map[string][]string
}

// Equal reports whether both contain the same decisions.
func (d Decisions) Equal(other Decisions) bool {
	return maps.EqualFunc(d, other, func(a, b PolicyDecisions) bool {
		return a.Generation == b.Generation &&
			maps.EqualFunc(a.Targets, b.Targets, slices.Equal[[]string])
	})
}

// compactDecisions is the JSON form of a policy's decisions. Deployment targets on the same cluster types share one
// entry: the names of the cluster types → the names of the deployment targets, both sorted and separated by spaces.
type compactDecisions struct {
	Generation string            `json:"generation,omitempty"`
	On         map[string]string `json:"on"`
}

// MarshalJSON implements json.Marshaler. Equal decisions have equal bytes.
func (p PolicyDecisions) MarshalJSON() ([]byte, error) {
	targets := map[string][]string{}
	for target, clusterTypes := range p.Targets {
		key := strings.Join(clusterTypes, " ")
		targets[key] = append(targets[key], target)
	}
	compact := compactDecisions{p.Generation, make(map[string]string, len(targets))}
	for key, names := range targets {
		slices.Sort(names)
		compact.On[key] = strings.Join(names, " ")
	}
	return json.Marshal(compact)
}

var errTwice = errors.New("a deployment target is listed twice")

// UnmarshalJSON implements json.Unmarshaler. It rejects JSON that [PolicyDecisions.MarshalJSON] would never write.
func (p *PolicyDecisions) UnmarshalJSON(data []byte) error {
	var compact compactDecisions
	if err := json.Unmarshal(data, &compact); err != nil {
		return err
	}
	p.Generation, p.Targets = compact.Generation, map[string][]string{}
	for key, names := range compact.On {
		clusterTypes := strings.Fields(key)
		for _, name := range clusterTypes {
			if len(validation.IsDNS1123Subdomain(name)) > 0 {
				return fmt.Errorf("%q is not the name of a cluster type", name)
			}
		}
		slices.Sort(clusterTypes)
		clusterTypes = slices.Compact(clusterTypes)
		for _, target := range strings.Fields(names) {
			if _, twice := p.Targets[target]; twice {
				return fmt.Errorf("%w: %q", errTwice, target)
			}
			p.Targets[target] = clusterTypes
		}
	}
	return nil
}
