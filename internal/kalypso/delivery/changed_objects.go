package delivery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// maxChangedKeys limits the keys in a line that names a changed object.
const maxChangedKeys = 5

// changedObjects names the objects of a fleet that changed, in at most ten lines, such as
// "config region-eastus: DATABASE_URL" and "template flux (new)". It names none if it is not known what was before.
func changedObjects(before *past.State, a *wish.Arguments) (lines []string) {
	if before == nil || before.Inputs == nil || before.Inputs.Configs == nil {
		return nil
	}
	was, is := before.Inputs, a.Inputs()
	for _, data := range []struct {
		what    string
		was, is map[string]past.ConfigInputs
	}{{"config", was.Configs, is.Configs}, {"secret", was.Secrets, is.Secrets}} {
		var changed []string
		for _, c := range configChanges(data.was, data.is, false) {
			changed = append(changed, changedConfig(data.what, c))
		}
		slices.Sort(changed)
		lines = append(lines, changed...)
	}
	if was.Objects != nil {
		for _, name := range slices.Sorted(sets.Keys(was.Objects, is.Objects)) {
			before, after := was.Objects[name], is.Objects[name]
			switch {
			case before == after:
				continue
			case before == "":
				name += " (new)"
			case after == "":
				name += " (gone)"
			}
			lines = append(lines, name)
		}
	}
	if more := len(lines) - record.MaxObjects; more > 0 {
		lines = append(lines[:record.MaxObjects-1], fmt.Sprintf("and %d more objects", more+1))
	}
	for i, line := range lines {
		lines[i] = printable.Line(line)
	}
	return lines
}

// changedConfig names a changed config, or changed references to secrets, with the keys.
func changedConfig(what string, c describe.ConfigChange) string {
	line := what + " " + c.Name
	switch c.Kind {
	case describe.Added:
		return line + " (new)"
	case describe.Removed:
		return line + " (gone)"
	}
	keys := lists.Map(c.Keys, func(k describe.ConfigKey) string { return k.Name })
	slices.Sort(keys)
	if c.LabelsChanged {
		keys = append([]string{"labels"}, keys...)
	}
	text := strings.Join(keys[:min(len(keys), maxChangedKeys)], ", ")
	if more := len(keys) - maxChangedKeys; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return line + ": " + text
}
