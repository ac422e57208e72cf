package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// RenamedTargets warns about deployment targets that probably got another name, because their workload or their target
// was renamed: one name is gone from all cluster types, and a new name of the fleet is on exactly the same ones. A name
// is a part of the namespace, so clusters delete the old namespace with its data.
func RenamedTargets(f *fleet.Fleet, before, after inventory.Folders) problem.Problems {
	was, now := clusterTypesByTarget(before), clusterTypesByTarget(after)
	var renamed, namespaces []string
	for _, workload := range f.Workloads {
		for _, target := range workload.Targets {
			name := workload.Name + "-" + target.Name
			_, existed := was[name]
			if target.Environment != f.Environment || existed || len(now[name]) == 0 {
				continue
			}
			old := slices.DeleteFunc(slices.Sorted(maps.Keys(was)), func(old string) bool {
				_, stays := now[old]
				similar := strings.HasSuffix(old, "-"+target.Name) || strings.HasPrefix(old, workload.Name+"-")
				return stays || !similar || !slices.Equal(was[old], now[name])
			})
			if len(old) != 1 {
				continue // none, or it is not clear which one
			}
			renamed = append(renamed, fmt.Sprintf("%s is now %s", old[0], name))
			for _, clusterType := range was[old[0]] {
				namespace, err := schedule.Namespace(f.Environment, clusterType, old[0])
				if err == nil { // it was rendered, so the name is valid
					namespaces = append(namespaces, namespace)
				}
			}
		}
	}
	if len(renamed) == 0 {
		return nil
	}
	slices.Sort(renamed)
	slices.Sort(namespaces)
	return problem.Problems{problem.WarningAt("Deployment targets are renamed", fmt.Sprintf(
		"A workload or a target probably got another name:\n%s\nWith the name, the namespace changes. Clusters that prune "+
			"delete these namespaces, with everything in them, also data:\n%s\nKeep the old name, or move the data first: "+
			"deploy both names, move the data, and then remove the old one.",
		problem.IndentedList(renamed, problem.MaxListed), problem.IndentedList(namespaces, problem.MaxListed)), "workloads")}
}

// clusterTypesByTarget returns the cluster types of each deployment target, sorted.
func clusterTypesByTarget(folders inventory.Folders) map[string][]string {
	all := map[string][]string{}
	for _, clusterType := range folders.Names() {
		for _, target := range folders[clusterType].Targets {
			all[target.Name] = append(all[target.Name], clusterType)
		}
	}
	return all
}
