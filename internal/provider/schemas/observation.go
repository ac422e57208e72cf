package schemas

import (
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// ObservedAttribute is the argument that takes a kalypso_deployment_state.
func ObservedAttribute(description string) schema.SingleNestedAttribute {
	return OptionalObject(description, map[string]schema.Attribute{
		"gitops_repo": OptionalObject(
			"The location that was observed: the `gitops_repo` of the rendering. Required.",
			locationArguments(),
		),
		"observed_at": OptionalString(
			"When the clusters were observed. If that was before the rollout's last commit, no wave follows. Required.",
		),
		"folders": OptionalObjectMap("The folders by cluster type.", map[string]schema.Attribute{
			"tree_hash": OptionalString("The hash of the folder when it was observed."),
			"verdict":   OptionalString("`success`, `pending` or `failure`. Required."),
			"since":     OptionalString("When the folder reached its verdict. The soak counts from then."),
			"total":     OptionalNumber("How many clusters follow the folder. Required."),
			"current":   OptionalNumber("How many of these clusters are current."),
		}),
		"problems": OptionalObjects("The problems that warnings list.", map[string]schema.Attribute{
			"cluster": OptionalString("The cluster."),
			"folder":  OptionalString("The cluster type."),
			"state":   OptionalString("State of the cluster."),
			"message": OptionalString("Message of the cluster."),
		}),
	})
}

// ReadObservation reads the argument observed, or returns nil if there is none. It reports an observation of another
// location than at, unless at is zero. known is false if a part of the argument is not known yet.
func ReadObservation(d tfvalue.Decoder, at destination.Destination) (seen *deployment.Observation, known bool) {
	given, ok := d.Object("observed")
	v, _ := d.Argument("observed")
	switch {
	case !ok:
		return nil, true
	case given.Unknown || !tfvalue.WhollyKnown(v):
		return nil, false
	}
	if of := ReadDestination(given); of.Repo == "" {
		given.Report("Missing GitOps repo", "observed lacks gitops_repo. Pass a kalypso_deployment_state as a whole, or "+
			"its gitops_repo, observed_at, folders and problems.",
			problem.Attr("gitops_repo"))
	} else if at.Repo != "" && !of.Same(at) {
		given.Report("Observation of another location",
			fmt.Sprintf("observed describes %s, but the rendering writes to %s. Pass a kalypso_deployment_state with the "+
				"gitops_repo of the rendering.", of, at), problem.Attr("gitops_repo"))
	}
	seen = &deployment.Observation{}
	given.Read(seen)
	if given.String("observed_at") == "" {
		given.Report("Missing time", "observed lacks observed_at, the time of the observation.",
			problem.Attr("observed_at"))
	}
	for name, folder := range given.Each("folders") {
		checkFolder(folder, seen.Folders[name].Verdict)
	}
	return seen, true
}

var verdicts = []deployment.Verdict{deployment.Success, deployment.Pending, deployment.Failure}

// checkFolder reports what a folder of an observation lacks.
func checkFolder(d tfvalue.Decoder, verdict deployment.Verdict) {
	if d.Number("total") == nil {
		d.Report("Missing total", "The folder lacks total, the number of clusters that follow it. Pass a "+
			"kalypso_deployment_state as a whole.", problem.Attr("total"))
	}
	if !slices.Contains(verdicts, verdict) {
		d.Report("Invalid verdict", fmt.Sprintf("%q is not one of success, pending, failure.", verdict),
			problem.Attr("verdict"))
	}
}
