// Package clusters joins the clusters of several inventories, finds the cluster type of each, and writes placement
// decisions for them.
package clusters

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Limits on the clusters of a source. A hub is not trusted.
const (
	Max       = 10_000  // clusters of a source, and of all sources together
	maxLabels = 64      // labels of a cluster
	maxProps  = 256     // properties of a cluster
	maxText   = 1024    // bytes of a name, or of a key or a value of a label or property
	maxTexts  = 1 << 26 // bytes of all texts of a source, also of the objects that are left out
	textSize  = 16      // bytes that a text has beside its content: many empty texts take memory too
)

// Cluster is a cluster as a source lists it.
type Cluster struct {
	Source     string
	Namespace  string // empty: the source has none
	Name       string
	Labels     map[string]string
	Properties map[string]string // facts that are not labels, such as the region
	Healthy    *bool             // nil: the source does not say
	Reason     string            // why it is not healthy
}

// qualified returns the name of a cluster with its source and namespace. If [profileOf] would read another namespace or
// name in it, it returns the name with escaped slashes, in which that reads none.
func (c *Cluster) qualified() string {
	parts := []string{c.Source, c.Namespace, c.Name}
	name := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "/")
	if p, qualified := splitName(name); qualified && p.check() == nil && p != (profile{c.Namespace, c.Name}) {
		return c.Source + "/" + c.Namespace + "/" + strings.ReplaceAll(c.Name, "/", "%2F")
	}
	return name
}

// selectable returns the labels and properties of a cluster, for selectors. If a label and a property have the same
// name, it returns the label.
func (c *Cluster) selectable() map[string]string {
	if len(c.Properties) == 0 {
		return c.Labels
	}
	all := maps.Clone(c.Properties)
	maps.Copy(all, c.Labels)
	return all
}

// check returns the size of a cluster's texts, or the reason why the cluster can't be used.
func (c *Cluster) check() (size int, err error) {
	if c.Name == "" {
		return 0, fmt.Errorf("it has no name")
	}
	if p, qualified := splitName(c.Name); qualified && p.check() == nil {
		return 0, fmt.Errorf("its name looks like the cluster %s in the namespace %s", p.name, p.namespace)
	}
	if c.Namespace != "" && len(validation.IsDNS1123Label(c.Namespace)) > 0 {
		return 0, fmt.Errorf("its namespace has no valid name")
	}
	if len(c.Labels) > maxLabels {
		return 0, fmt.Errorf("it has %d labels; at most %d are allowed", len(c.Labels), maxLabels)
	}
	if len(c.Properties) > maxProps {
		return 0, fmt.Errorf("it has %d properties; at most %d are allowed", len(c.Properties), maxProps)
	}
	texts := []string{c.Name, c.Namespace}
	for _, set := range []map[string]string{c.Labels, c.Properties} {
		texts = slices.AppendSeq(slices.AppendSeq(texts, maps.Keys(set)), maps.Values(set))
	}
	for _, text := range texts {
		if !utf8.ValidString(text) { // a Secret may contain any bytes, and Terraform only text
			return 0, fmt.Errorf("one of its names, labels or properties is not UTF-8")
		}
		if len(text) > maxText {
			return 0, fmt.Errorf("one of its names, labels or properties has more than %d bytes", maxText)
		}
		size += textSize + len(text)
	}
	return size + textSize + len(c.Reason), nil
}

// List contains the clusters of a source.
type List struct {
	Clusters []Cluster
	LeftOut  []string // objects that can't be used as clusters, with the reasons
	size     int
}

// Add adds the cluster of an object. It leaves out a cluster that can't be used. If the source lists more than the
// limits allow, Add returns an error.
func (l *List) Add(object string, c Cluster) error {
	size, err := c.check()
	if err != nil {
		return l.LeaveOut(object, err)
	}
	l.size += size
	l.Clusters = append(l.Clusters, c)
	return l.full()
}

// LeaveOut notes an object that can't be used, see [List.Add]. It shortens a long name.
func (l *List) LeaveOut(object string, why error) error {
	if len(object) > maxText {
		object = strings.ToValidUTF8(object[:maxText], "") + "…"
	}
	text := printable.Line(object + ": " + why.Error())
	l.size += textSize + len(text)
	l.LeftOut = append(l.LeftOut, text)
	return l.full()
}

func (l *List) full() error {
	switch {
	case len(l.Clusters)+len(l.LeftOut) > Max:
		return fmt.Errorf("it lists more than %d clusters", Max)
	case l.size > maxTexts:
		return fmt.Errorf("the names, labels and properties of its clusters have more than %d MiB", maxTexts>>20)
	}
	return nil
}

// Inventory contains the clusters of all sources.
type Inventory struct {
	Clusters     map[string]Member   // by a name that is unique over all sources
	ClusterTypes map[string][]string // the sorted names of the clusters of each cluster type
	Unmatched    []string            // names of clusters without a cluster type
	Empty        []string            // cluster types without a cluster
	Ambiguous    []string            // names that had to be qualified
	leftOut      []string
}

// Member is a cluster with its cluster type.
type Member struct {
	Cluster
	ClusterType string // empty: no rule matches
}

// Join joins the clusters of sources and matches the rules, which must be valid, see [CheckRules].
//
// Clusters of several sources with the same name and labels are one cluster. If their labels differ, each keeps its own
// entry, under its qualified name.
func Join(lists []List, rules []Rule) (*Inventory, error) {
	selectors, err := compile(rules)
	if err != nil {
		return nil, err
	}
	all := &Inventory{Clusters: map[string]Member{}, ClusterTypes: map[string][]string{}}
	byName := map[string][]Cluster{}
	for _, l := range lists {
		all.leftOut = append(all.leftOut, l.LeftOut...)
		for _, c := range l.Clusters {
			byName[c.Name] = add(byName[c.Name], c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		for _, c := range byName[name] {
			key := name
			if len(byName[name]) > 1 {
				key = c.qualified()
			}
			for taken := true; taken; {
				_, taken = all.Clusters[key]
				if taken {
					key = c.Source + "/" + key
				}
			}
			if key != name {
				all.Ambiguous = append(all.Ambiguous, key)
			}
			all.Clusters[key] = Member{c, selectors.match(c.selectable())}
		}
	}
	if len(all.Clusters) > Max {
		return nil, fmt.Errorf("the sources list %d clusters; at most %d are allowed", len(all.Clusters), Max)
	}
	all.group(rules)
	return all, nil
}

// add adds a cluster to the clusters with the same name. If one from another source has the same labels, add merges the
// two.
func add(named []Cluster, c Cluster) []Cluster {
	for i := range named {
		same := &named[i]
		if same.Source == c.Source {
			if same.Namespace == c.Namespace {
				return named // its source lists it twice
			}
			continue
		}
		if maps.Equal(same.Labels, c.Labels) {
			properties := map[string]string{}
			maps.Copy(properties, c.Properties)
			maps.Copy(properties, same.Properties)
			same.Properties = properties
			if c.Healthy != nil && (same.Healthy == nil || !*c.Healthy) {
				same.Healthy, same.Reason = c.Healthy, c.Reason
			}
			return named
		}
	}
	return append(named, c)
}

// group lists the names of clusters by cluster type.
func (all *Inventory) group(rules []Rule) {
	for _, r := range rules {
		all.ClusterTypes[r.ClusterType] = []string{}
	}
	for _, key := range slices.Sorted(maps.Keys(all.Clusters)) {
		if t := all.Clusters[key].ClusterType; t != "" {
			all.ClusterTypes[t] = append(all.ClusterTypes[t], key)
		} else {
			all.Unmatched = append(all.Unmatched, key)
		}
	}
	for _, t := range slices.Sorted(maps.Keys(all.ClusterTypes)) {
		if len(all.ClusterTypes[t]) == 0 {
			all.Empty = append(all.Empty, t)
		}
	}
	slices.Sort(all.Ambiguous)
}

// Summary describes the inventory in one line.
func (all *Inventory) Summary() string {
	text := fmt.Sprintf("%s of %s", problem.Count(len(all.Clusters), "cluster"),
		problem.Count(len(all.ClusterTypes)-len(all.Empty), "cluster type"))
	unhealthy := 0
	for _, c := range all.Clusters {
		if c.Healthy != nil && !*c.Healthy {
			unhealthy++
		}
	}
	for _, part := range []struct {
		count int
		text  string
	}{
		{len(all.Unmatched), "without a cluster type"}, {unhealthy, "not healthy"}, {len(all.Ambiguous), "ambiguous"},
		{len(all.leftOut), "left out"},
	} {
		if part.count > 0 {
			text += fmt.Sprintf(", %d %s", part.count, part.text)
		}
	}
	return text + "."
}

// Problems returns the warnings about an inventory.
func (all *Inventory) Problems() (ps problem.Problems) {
	warn := func(attribute, summary, detail string, lines []string) {
		if len(lines) == 0 {
			return
		}
		ps = append(ps, problem.Problem{Severity: problem.Warning, Summary: summary,
			Detail: detail + "\n\n" + problem.IndentedList(lines, problem.MaxListed),
			Path:   []problem.Step{problem.Attr(attribute)}})
	}
	warn("match", "Clusters without a cluster type", "No rule of match selects these clusters, so they have no cluster "+
		"type. Add a rule, or correct their labels.", all.Unmatched)
	warn("match", "Cluster types without a cluster", "The rules of these cluster types get no cluster. Correct them, or "+
		"remove them once no cluster of the type is left.", all.Empty)
	warn("source", "Ambiguous cluster names", "Several clusters have the same name and differ in their labels, source or "+
		"namespace, so they are listed by their qualified names. Rename them, or give them the same labels if they are one "+
		"cluster.", all.Ambiguous)
	warn("source", "Clusters are left out", "These objects can't be used as clusters. Correct them at their source.",
		all.leftOut)
	return ps
}
