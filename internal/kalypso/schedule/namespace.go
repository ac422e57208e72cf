package schedule

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Namespace returns the namespace of an assignment, <environment>-<clusterType>-<deploymentTarget>. If it is not a
// DNS-1123 label, the error names the three parts and the length.
func Namespace(environment, clusterType, deploymentTarget string) (string, error) {
	namespace := join(environment, clusterType, deploymentTarget)
	if isLabel(namespace) {
		return namespace, nil
	}
	if msgs := validation.IsDNS1123Label(namespace); len(msgs) > 0 {
		return "", fmt.Errorf("the namespace %q (environment %q, cluster type %q, deployment target %q) has %d characters "+
			"and is not a DNS-1123 label: %s. Shorten or change one of the three names",
			namespace, environment, clusterType, deploymentTarget, len(namespace), strings.Join(msgs, "; "))
	}
	return namespace, nil
}

func join(environment, clusterType, deploymentTarget string) string {
	return environment + "-" + clusterType + "-" + deploymentTarget
}

// isLabel checks Kubernetes' rule for DNS-1123 labels without the regular expression, which took half the time of a
// schedule.
func isLabel(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '-' || i == 0 || i == len(s)-1) {
			return false
		}
	}
	return s != "" && len(s) <= validation.DNS1123LabelMaxLength
}

func namesAreValid(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return len(validation.IsDNS1123Subdomain(name)) > 0 })
}

// isTeamFault reports whether another name of the deployment target could make an invalid namespace valid. It is the
// platform's fault if the names of the environment and the cluster type allow no deployment target, and this one is a
// label itself.
func isTeamFault(environment, clusterType, deploymentTarget string) bool {
	const shortest = "a-b" // <workload>-<target>
	return !isLabel(deploymentTarget) || isLabel(join(environment, clusterType, shortest))
}

// invalidNamespaces contains the cluster types on which the name of a deployment target makes an invalid namespace.
type invalidNamespaces map[*fleet.DeploymentTarget][]*fleet.ClusterType

// problems returns a fault of the team for each deployment target. It affects the target only on these cluster types.
func (invalid invalidNamespaces) problems(f *fleet.Fleet, targets []*fleet.DeploymentTarget) (ps problem.Problems) {
	for _, t := range targets {
		on := invalid[t]
		if len(on) == 0 {
			continue
		}
		lines := lists.Map(on, func(ct *fleet.ClusterType) string {
			namespace := join(f.Environment, ct.Name, t.Name)
			return fmt.Sprintf("%s: %q (%d characters) %s", ct.Name, namespace, len(namespace),
				strings.Join(validation.IsDNS1123Label(namespace), "; "))
		})
		ps = append(ps, fleet.ProblemOf(t.Workload, problem.Problem{
			Fault: problem.TeamFault, Path: f.TargetPath(t, "name"), Summary: "Invalid namespace",
			Affects: lists.Map(on, func(ct *fleet.ClusterType) problem.AffectedTarget {
				return problem.AffectedTarget{ClusterType: ct.Name, Name: t.Name}
			}),
			Detail: fmt.Sprintf("The namespace of deployment target %q (<environment>-<cluster type>-<deployment target>) "+
				"is not a DNS-1123 label on %s:\n%s\nShorten or change the name of the workload or of the target.",
				t.Name, problem.Count(len(on), "cluster type"), problem.IndentedList(lines, problem.MaxListed)),
		}))
	}
	return ps
}
