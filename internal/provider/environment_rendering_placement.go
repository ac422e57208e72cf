package provider

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// holders returns the cluster types of each deployment target in a state.
func (m *environmentRenderingModel) holders() map[string][]string {
	all := map[string][]string{}
	for clusterType, v := range m.Assignments.Elements() {
		if targets, ok := v.(types.Map); ok {
			for target := range targets.Elements() {
				all[target] = append(all[target], clusterType)
			}
		}
	}
	for _, clusterTypes := range all {
		slices.Sort(clusterTypes)
	}
	return all
}
