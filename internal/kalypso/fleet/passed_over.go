package fleet

import (
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// CheckPassedOver warns of ConfigMaps that are skipped because they lack the label of platform configs, so that no
// assignment gets their values; see [Fleet.Add].
func CheckPassedOver(configs []*Config) problem.Problems {
	if len(configs) == 0 {
		return nil
	}
	lines := make([]string, len(configs))
	for i, c := range configs {
		lines[i] = fmt.Sprintf("%q from %s", c.Name, c.Origin)
		if value, ok := c.Labels[PlatformConfigLabel]; ok {
			lines[i] += fmt.Sprintf(": the label is %q", value)
		}
	}
	return problem.Problems{{
		Severity: problem.Warning, Origin: problem.Origin{Attribute: configs[0].Origin.Attribute},
		Summary: "ConfigMaps without the label of platform configs",
		Detail: fmt.Sprintf("%s skipped, so no deployment target gets the values:\n%s\nIf they are platform configs, add "+
			"the label %s: %q. If not, remove them from manifests.",
			problem.OneOrMany(len(configs), "A ConfigMap is", "%d ConfigMaps are"),
			problem.IndentedList(lines, problem.MaxListed), PlatformConfigLabel, platformConfigSelected),
	}}
}
