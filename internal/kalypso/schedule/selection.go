package schedule

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// selection is the result of a policy's selectors.
type selection struct {
	clusterTypes selector
	targets      []int // indexes of the deployment targets
	possible     []int // indexes of targets whose selection depends on unknown values
}

func selectTargets(p *fleet.SchedulingPolicy, targets []*fleet.DeploymentTarget, labels []labelSet) selection {
	defer problem.NamePanic(string(p.Kind()), p.Name)
	byLabels, err := newSelector(&p.DeploymentTargets)
	if err != nil {
		return selection{}
	}
	clusterTypes, err := newSelector(&p.ClusterTypes)
	if err != nil {
		return selection{}
	}
	sel := selection{clusterTypes: clusterTypes}
	for i, t := range targets {
		switch min(matchWorkspace(p.Workspace, t.Workspace), byLabels.match(labels[i])) {
		case yes:
			sel.targets = append(sel.targets, i)
		case maybe:
			sel.possible = append(sel.possible, i)
		}
	}
	return sel
}

// on returns the targets that the policy assigns to a cluster type, and the targets that it may assign.
func (s *selection) on(clusterType labelSet) (sure, unsure []int) {
	if len(s.targets)+len(s.possible) == 0 {
		return nil, nil
	}
	switch s.clusterTypes.match(clusterType) {
	case yes:
		return s.targets, s.possible
	case maybe:
		return nil, slices.Concat(s.targets, s.possible)
	}
	return nil, nil
}

// certainty says whether a selector matches. If two conditions must be met, the result is the smaller certainty.
type certainty int

const (
	no certainty = iota
	maybe
	yes
)

func matchWorkspace(selected, workspace string) certainty {
	switch {
	case selected == "":
		return yes
	case unknown.Is(selected) || unknown.Is(workspace):
		return maybe
	case selected == workspace:
		return yes
	}
	return no
}

// selector is a label selector that may have parts that are not known yet.
type selector struct {
	known   labels.Selector // the selector without its unknown parts
	partial bool            // the selector has unknown parts
}

func newSelector(s *fleet.Selector) (selector, error) {
	rest := fleet.Selector{
		MatchLabels:      maps.Clone(s.MatchLabels),
		MatchExpressions: slices.DeleteFunc(slices.Clone(s.MatchExpressions), fleet.RequirementUnknown),
	}
	maps.DeleteFunc(rest.MatchLabels, func(key, value string) bool { return unknown.Is(key) || unknown.Is(value) })
	known, err := metav1.LabelSelectorAsSelector(&rest)
	return selector{known, fleet.SelectorUnknown(s)}, err
}

// labelSet contains labels, some of which may not be known yet.
type labelSet struct {
	labels.Set
	partial bool // some are not known
}

func newLabelSet(all map[string]string) labelSet { return labelSet{all, unknown.Any(all)} }

// unknown reports whether the value or the existence of a label is not known yet.
func (l labelSet) unknown(key string) bool {
	_, whole := l.Set[unknown.Text]
	return whole || unknown.Is(l.Set[key])
}

// match reports whether the selector matches labels. It ignores labels that the selector does not use.
func (s selector) match(l labelSet) certainty {
	if !s.partial && !l.partial {
		if s.known.Matches(l.Set) {
			return yes
		}
		return no
	}
	requirements, selectable := s.known.Requirements()
	if !selectable {
		return no
	}
	result := yes
	if s.partial {
		result = maybe
	}
	for _, r := range requirements {
		switch {
		case l.unknown(r.Key()):
			result = maybe
		case !r.Matches(l.Set):
			return no
		}
	}
	return result
}
