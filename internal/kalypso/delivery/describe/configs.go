package describe

import (
	"cmp"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// ConfigChange is a changed config, or a changed object with references to secrets.
type ConfigChange struct {
	Name string
	Kind inventory.Kind
	// Targets is the number of deployment targets it applies to now, and ClusterTypes lists their cluster types.
	Targets       int
	ClusterTypes  []string
	LabelsChanged bool // the labels that select its assignments change
	Keys          []ConfigKey
}

// ConfigKey is a changed key of a config or of references. Old and New are its values; nil means unknown or not shown.
type ConfigKey struct {
	Name     string
	Kind     inventory.Kind
	Old, New *string
}

func (w *writer) config(c ConfigChange) string {
	return code(c.Name) + c.Kind.Note() + w.reach(c) + ": " + w.keys(c)
}

// reach describes what a config applies to.
func (w *writer) reach(c ConfigChange) string {
	switch {
	case c.Kind == inventory.Removed:
		return ""
	case c.Targets == 0:
		return ", which applies to no deployment target"
	}
	text := " on " + problem.Count(c.Targets, "deployment target")
	if w.names > 0 {
		text += " of " + w.list(slices.Sorted(slices.Values(c.ClusterTypes)))
	}
	return text
}

func (w *writer) keys(c ConfigChange) string {
	keys := slices.SortedFunc(slices.Values(c.Keys), func(a, b ConfigKey) int { return cmp.Compare(a.Name, b.Name) })
	if c.LabelsChanged {
		return problem.First(append([]string{"its labels"}, lists.Map(keys, key)...), w.names+1)
	}
	return names(keys, w.names, key)
}

func key(k ConfigKey) string {
	text := code(k.Name) + map[inventory.Kind]string{inventory.Added: " added", inventory.Removed: " removed"}[k.Kind]
	switch {
	case k.Old != nil && k.New != nil:
		return text + " " + code(delivery.Truncate(*k.Old)) + " → " + code(delivery.Truncate(*k.New))
	case k.New != nil && k.Kind == inventory.Changed:
		return text + ", now " + code(delivery.Truncate(*k.New))
	case k.New != nil:
		return text + " as " + code(delivery.Truncate(*k.New))
	case k.Old != nil:
		return text + ", was " + code(delivery.Truncate(*k.Old))
	}
	return text
}
