package describe

import (
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// maxChangedKeys limits the keys in a line that names a changed object.
const maxChangedKeys = 5

// changedObjects names the objects of a fleet that changed, in at most ten lines, such as
// "config region-eastus: DATABASE_URL" and "template flux (new)". It names none if it is not known what was before.
func changedObjects(before *delivery.State, a *delivery.Arguments) (lines []string) {
	if before == nil || before.Inputs == nil || before.Inputs.Configs == nil {
		return nil
	}
	was, is := before.Inputs, a.Inputs()
	lines = append(changedConfigs("config", was.Configs, is.Configs), changedConfigs("secret", was.Secrets, is.Secrets)...)
	if was.Objects != nil {
		for _, name := range slices.Sorted(sets.Keys(was.Objects, is.Objects)) {
			if before, after := was.Objects[name], is.Objects[name]; before != after {
				lines = append(lines, name+inventory.KindOf(before != "", after != "").Note())
			}
		}
	}
	if more := len(lines) - record.MaxObjects; more > 0 {
		lines = append(lines[:record.MaxObjects-1], fmt.Sprintf("and %d more objects", more+1))
	}
	return lists.Map(lines, printable.Line)
}

// changedConfigs names the changed configs, or changed references to secrets, with the keys.
func changedConfigs(what string, was, is map[string]delivery.ConfigInputs) []string {
	lines := lists.Map(configChanges(was, is, false), func(c ConfigChange) string {
		if c.Kind != inventory.Changed {
			return what + " " + c.Name + c.Kind.Note()
		}
		return what + " " + c.Name + ": " + changedKeys(c)
	})
	slices.Sort(lines)
	return lines
}

// changedKeys names the changed keys of a config.
func changedKeys(c ConfigChange) string {
	keys := lists.Map(c.Keys, func(k ConfigKey) string { return k.Name })
	slices.Sort(keys)
	if c.LabelsChanged {
		keys = append([]string{"labels"}, keys...)
	}
	return problem.First(keys, maxChangedKeys)
}
