package clusters

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The standard PlacementDecision, see https://kep.k8s.io/5313.
const (
	decisionAPI    = "multicluster.x-k8s.io/v1alpha1"
	decisionKey    = "multicluster.x-k8s.io/decision-key"
	decisionIndex  = "multicluster.x-k8s.io/decision-index"
	maxDecisions   = 100 // of an object
	schedulerName  = "kalypso"
	defaultDecided = "default"
)

// ErrInvalid means that no cluster would accept objects that are made from these arguments.
var ErrInvalid = errors.New("invalid")

// DecisionOptions are settings of placement decisions. Empty values are the defaults.
type DecisionOptions struct {
	Namespace         string // of the objects; the default is "default"
	ProfilesNamespace string // of the ClusterProfiles; the default is Namespace
}

// Decisions returns the PlacementDecisions of all deployment targets, in their order. assignments contains the
// deployment targets of each cluster type, and clusterTypes the names of its clusters. If clusterTypes is nil, the
// decisions name the cluster types themselves.
func Decisions(assignments map[string][]string, clusterTypes map[string][]string, o DecisionOptions) (
	[]map[string]any, error,
) {
	o.Namespace = cmp.Or(o.Namespace, defaultDecided)
	o.ProfilesNamespace = cmp.Or(o.ProfilesNamespace, o.Namespace)
	for _, namespace := range []string{o.Namespace, o.ProfilesNamespace} {
		if len(validation.IsDNS1123Label(namespace)) > 0 {
			return nil, fmt.Errorf("%w: %q is not a valid namespace", ErrInvalid, namespace)
		}
	}
	var wrong []error
	reasons := map[string]map[profile]string{} // by target
	for _, clusterType := range slices.Sorted(maps.Keys(assignments)) {
		targets := assignments[clusterType]
		if len(targets) == 0 {
			continue
		}
		profiles, err := profilesOf(clusterType, clusterTypes, o.ProfilesNamespace)
		wrong = append(wrong, err)
		for _, target := range targets {
			if reasons[target] == nil {
				reasons[target] = map[profile]string{}
				wrong = append(wrong, checkTarget(target))
			}
			for _, p := range profiles {
				if _, there := reasons[target][p]; !there {
					reasons[target][p] = fmt.Sprintf("assigned to the cluster type %q", clusterType)
				}
			}
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	var all []map[string]any
	for _, target := range slices.Sorted(maps.Keys(reasons)) {
		all = append(all, slicesOf(target, reasons[target], o.Namespace)...)
	}
	return all, nil
}

// checkTarget returns an error if the name of a deployment target is not valid as the name of an object and as the
// value of its label.
func checkTarget(name string) error {
	if len(validation.IsValidLabelValue(name)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fmt.Errorf("%w: the deployment target %q can't be the value of a label and the name of an object", ErrInvalid,
			name)
	}
	return nil
}

// profilesOf returns the ClusterProfiles of the clusters of a cluster type, see [Decisions].
func profilesOf(clusterType string, clusterTypes map[string][]string, namespace string) (all []profile, err error) {
	names, listed := clusterTypes[clusterType]
	switch {
	case clusterTypes == nil:
		names = []string{clusterType}
	case !listed:
		return nil, fmt.Errorf("%w: cluster_types has no cluster type %q, to which deployment targets are assigned",
			ErrInvalid, clusterType)
	}
	var wrong []error
	for _, name := range names {
		p, err := profileOf(name, namespace)
		all, wrong = append(all, p), append(wrong, err)
	}
	return all, errors.Join(wrong...)
}

// profile names a ClusterProfile.
type profile struct{ namespace, name string }

// profileOf returns the ClusterProfile of a cluster. If the name of the cluster is qualified, it contains the namespace
// of the profile.
func profileOf(cluster, namespace string) (profile, error) {
	p, qualified := splitName(cluster)
	if !qualified {
		p = profile{namespace, cluster}
	}
	if p.check() != nil {
		return p, fmt.Errorf("%w: no ClusterProfile can have the name of the cluster %q", ErrInvalid, cluster)
	}
	return p, nil
}

// splitName returns the namespace and the name in the qualified name of a cluster. qualified is false if the name is
// none.
func splitName(cluster string) (p profile, qualified bool) {
	part := strings.Split(cluster, "/")
	if len(part) < 3 || part[0] == "" {
		return p, false
	}
	return profile{part[len(part)-2], part[len(part)-1]}, true
}

// check returns an error if no object can have the name and the namespace.
func (p profile) check() error {
	if len(validation.IsDNS1123Label(p.namespace)) > 0 || len(validation.IsDNS1123Subdomain(p.name)) > 0 {
		return ErrInvalid
	}
	return nil
}

// slicesOf returns the objects of a deployment target: one for every 100 clusters. Without a cluster, it returns one
// empty object.
func slicesOf(target string, reasons map[profile]string, namespace string) (objects []map[string]any) {
	sorted := slices.SortedFunc(maps.Keys(reasons), func(a, b profile) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	for index := 0; index == 0 || len(sorted) > 0; index++ {
		decisions := []any{}
		for _, p := range sorted[:min(len(sorted), maxDecisions)] {
			decisions = append(decisions, map[string]any{
				"clusterProfileRef": map[string]any{"namespace": p.namespace, "name": p.name}, "reason": reasons[p],
			})
		}
		sorted = sorted[len(decisions):]
		number := strconv.Itoa(index)
		objects = append(objects, map[string]any{
			"apiVersion": decisionAPI, "kind": "PlacementDecision",
			"metadata": map[string]any{
				"name": target + "-" + number, "namespace": namespace,
				"labels": map[string]any{decisionKey: target, decisionIndex: number},
			},
			"schedulerName": schedulerName,
			"decisions":     decisions,
		})
	}
	return objects
}
