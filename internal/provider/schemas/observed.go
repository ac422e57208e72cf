package schemas

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/azure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/observe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// ObservedArguments returns the arguments that select a deployment and configure its verdict.
func ObservedArguments() map[string]schema.Attribute {
	limit := func(description string) schema.StringAttribute {
		return OptionalString(description+" A number, or a percentage of the folder's clusters. The default is `0`.",
			Valid("limit", func(s string) error { _, err := limit.Parse(s); return err }))
	}
	return map[string]schema.Attribute{
		"gitops_repo": DestinationArgument("Destination of the rendering, as in its `gitops_repo`."),
		"source": RequiredObject(
			"The sources of reports about the clusters. Set at least one; the reports of several sources "+
				"are combined.",
			sourceAttributes(),
		),
		"expected": OptionalObjectMap(
			"The clusters that must follow a folder, by cluster type, such as `cluster_types` of "+
				"`kalypso_clusters`. A cluster type that is not listed here needs one current cluster.",
			map[string]schema.Attribute{
				"clusters": OptionalTexts(
					"Names of the clusters, as the source names them. Other clusters that follow the folder " +
						"are listed as problems but not counted.",
				),
				"minimum": OptionalNumber(
					"Number of clusters that must be current. The default is `1`; with `0`, a folder that no " +
						"cluster follows is a success.",
				),
			},
		),
		"progress_deadline": OptionalDuration(
			"How long a cluster may progress or be unhealthy before it counts as failed. The time counts from the latest of " +
				"three times: the folder's last commit, the fetch of the revision that fails, and the last success. A retry does " +
				"not restart this time. The default is `1h`.",
		),
		"stale_after": OptionalDuration("Maximum age of a report in `source.reports`. The default is `1h`."),
		"max_failed":  limit("How many clusters of a folder may fail before the folder's verdict becomes `failure`."),
		"max_unavailable": limit(
			"How many clusters of a folder may be stale, offline, suspended or missing before the folder becomes `pending`.",
		),
	}
}

func sourceAttributes() map[string]schema.Attribute {
	states := lists.Map(deployment.ReportStates, func(s deployment.Health) string { return string(s) })
	oneOfStates := stringvalidator.OneOf(states...)
	state := OptionalString("State of the cluster: "+Quoted(states)+". `current` means that everything synced is "+
		"healthy. Required.", oneOfStates)
	targetState := OptionalString("State of the deployment target, with the same values as `state` of the report. The "+
		"default is `state` of the report.", oneOfStates)
	return map[string]schema.Attribute{
		"azure_resource_graph": AzureScope("Asks Azure Resource Graph what the Flux configurations of Arc and AKS clusters " +
			"sync. A cluster's name is its ARM ID. Set at least one of these."),
		"kubernetes": OptionalObject("Asks the clusters themselves what Flux and Argo CD sync.", map[string]schema.Attribute{
			"clusters": OptionalTexts("Names from `clusters` of the provider. Required."),
		}),
		"reports": OptionalObjects(
			"Reports that are stored somewhere, such as in a file, about clusters that are connected "+
				"rarely or never. Any Terraform value works, such as `jsondecode(file(\"reports.json\"))`.",
			map[string]schema.Attribute{
				"cluster": OptionalString("Name of the cluster. Required."),
				"folder": OptionalString(
					"Folder that the cluster follows, below the rendering's path: the cluster type's name. Required.",
				),
				"revision": OptionalString("Synced revision: `branch@sha1:hash`, `branch/hash` or the full hash of a commit."),
				"state":    state,
				"time": OptionalString(
					"When the cluster reported, such as `2026-01-31T12:00:00Z`. A report without a time counts as stale.",
				),
				"message": OptionalString("Message for people."),
				"targets": OptionalObjects(
					"The deployment targets that the cluster runs, for `versions`. The verdict does not depend "+
						"on it.",
					map[string]schema.Attribute{
						"name": OptionalString("Name of the deployment target, which is the name of its folder. Required."),
						"revision": OptionalString(
							"The applied revision of the target's own repo, in the form of `revision` of the report, or the version of " +
								"its chart or artifact, such as `1.2.3@sha256:…`.",
						),
						"version": OptionalString("Version for people. By default, the provider finds it by `revision`."),
						"state":   targetState,
						"message": OptionalString("Message for people."),
					},
				),
			},
		),
	}
}

// AzureScope returns an argument that selects parts of an Azure tenant.
func AzureScope(description string) schema.SingleNestedAttribute {
	return OptionalObject(description, map[string]schema.Attribute{
		"subscriptions":     OptionalTexts("IDs of subscriptions."),
		"management_groups": OptionalTexts("Names of management groups."),
	})
}

// ObservedRequest selects the deployment to observe, and configures how.
type ObservedRequest struct {
	observe.Request
	ConfigUnknown bool // the provider's configuration for a source is known after apply
}

// ReadObserved reads the [ObservedArguments]. It reports errors and skips unknown values. p is nil during validate.
func ReadObserved(p *configuration.Data, d tfvalue.Decoder) ObservedRequest {
	request := ObservedRequest{Request: observe.Request{At: ReadDestination(d), Wait: SourceTimeout}}
	rules := &request.Rules
	d.Read(rules)
	rules.Deadline = cmp.Or(rules.Deadline, deployment.DefaultDeadline)
	rules.StaleAfter = cmp.Or(rules.StaleAfter, deployment.DefaultStaleAfter)
	rules.Expected = map[string]deployment.Expectation{}
	for name, at := range d.Each("expected") {
		var expected deployment.Expectation
		at.Read(&expected)
		if at.NumberOr("minimum", 0) < 0 && !at.IsUnknown("minimum") {
			at.Report("Invalid minimum", "minimum must be 0 or more.", problem.Attr("minimum"))
		}
		rules.Expected[name] = expected
	}
	if source, given := d.Object("source"); given && !source.Unknown {
		readDeploymentSources(p, source, &request)
	}
	return request
}

// ReadDestination reads the argument gitops_repo.
func ReadDestination(d tfvalue.Decoder) destination.Destination {
	repo, given := d.Object("gitops_repo")
	if !given || repo.Unknown {
		return destination.Destination{}
	}
	at := destination.New(repo.String("repo"), repo.String("branch"), repo.String("path"))
	*d.Problems = append(*d.Problems, at.Validate(true)...)
	return at
}

// ReadDuration reads a duration, or returns a default if it is not set or not valid.
func ReadDuration(d tfvalue.Decoder, name string, otherwise time.Duration) time.Duration {
	if given, err := time.ParseDuration(d.String(name)); err == nil && given > 0 {
		return given
	}
	return otherwise // the validator reports an invalid value
}

// readDeploymentSources reads the sources. It reports an error if there is none.
func readDeploymentSources(p *configuration.Data, d tfvalue.Decoder, request *ObservedRequest) {
	if given, ok := d.Object("azure_resource_graph"); ok {
		source, known := ReadAzureScope(p, given)
		request.Sources, request.ConfigUnknown = append(request.Sources, source), request.ConfigUnknown || !known
	}
	if given, ok := d.Object("kubernetes"); ok {
		request.Sources = append(request.Sources, readKubernetes(p, given, request))
	}
	if v, known := d.Argument("reports"); known || v != nil && v.IsUnknown() {
		request.Sources = append(request.Sources, readReports(d))
	}
	if len(request.Sources) == 0 {
		d.Report("Missing source", "source is empty: set at least one of its arguments.")
	}
}

// ReadAzureScope reads an argument of [AzureScope]. known is false if the provider's configuration for Azure is known
// after apply. p is nil during validate.
func ReadAzureScope(p *configuration.Data, d tfvalue.Decoder) (source azure.Source, known bool) {
	source.Scope = azure.Scope{Subscriptions: d.Strings("subscriptions"), ManagementGroups: d.Strings("management_groups")}
	if !d.Unknown && len(source.Scope.Subscriptions)+len(source.Scope.ManagementGroups) == 0 {
		d.Report("Missing scope", "azure_resource_graph needs subscriptions or management_groups.")
	}
	if p == nil {
		return source, true
	}
	source.Config = p.Azure.Config
	return source, !p.Azure.Unknown
}

// ReadConnection returns the connection to a cluster that the provider configures, and reports errors at a path below
// d. known is false if the connection is known after apply.
func ReadConnection(
	p *configuration.Data, d tfvalue.Decoder, name string, at ...problem.Step,
) (connection kubernetes.Connection, known bool) {
	connection, there := p.Clusters.Known[name]
	switch {
	case p.Clusters.AllUnknown || p.Clusters.Unknown[name]:
		return connection, false
	case !there:
		names := strings.Join(p.Clusters.Names(), ", ")
		d.Report("No such cluster", fmt.Sprintf("The argument clusters of the provider has no %q. It has: %s.", name,
			cmp.Or(names, "none")), at...)
		return connection, true
	}
	if err := connection.Check(); err != nil {
		d.Report("The cluster can't be used", fmt.Sprintf("Cluster %q: %s", name, problem.Sentence(err)), at...)
	}
	return connection, true
}

// readKubernetes returns the connections of the listed clusters from the provider's configuration, once it is known.
func readKubernetes(p *configuration.Data, d tfvalue.Decoder, request *ObservedRequest) kubernetes.Source {
	source := kubernetes.Source{}
	if d.Unknown {
		return source
	}
	named := d.Strings("clusters")
	if len(named) == 0 {
		d.Report("Missing clusters", "kubernetes lists no clusters. List names from clusters of the provider.",
			problem.Attr("clusters"))
	}
	for i, name := range named {
		if unknown.Is(name) || p == nil {
			continue
		}
		connection, known := ReadConnection(p, d, name, problem.Attr("clusters"), problem.Index(i))
		if !known {
			request.ConfigUnknown = true
			continue
		}
		source[name] = connection
	}
	return source
}

// readReports reads the argument reports.
func readReports(d tfvalue.Decoder) observe.Recorded {
	kept := observe.Recorded{}
	if d.IsUnknown("reports") {
		return kept
	}
	for _, r := range d.Objects("reports") {
		var report deployment.Report
		r.Read(&report)
		report.Recorded, report.Folder = true, strings.TrimPrefix(strings.TrimSuffix(report.Folder, "/"), "./")
		for _, argument := range []struct{ name, value string }{
			{"cluster", report.Cluster}, {"folder", report.Folder}, {"state", string(report.Health)},
		} {
			if argument.value == "" {
				r.Report(
					"Incomplete report",
					"A report needs cluster, folder and state; "+argument.name+" is not set.",
					problem.Attr(argument.name),
				)
			}
		}
		checkTargetNames(r)
		kept = append(kept, report)
	}
	return kept
}

// checkTargetNames checks the names of the argument targets of a report.
func checkTargetNames(d tfvalue.Decoder) {
	named := map[string]bool{}
	for _, t := range d.Objects("targets") {
		name := t.String("name")
		switch {
		case name == "":
			t.Report("Incomplete report", "A report of a deployment target needs name; it is not set.", problem.Attr("name"))
		case named[name] && !unknown.Is(name):
			t.Report("Deployment target reported twice", fmt.Sprintf("The report has %q twice in targets.", name),
				problem.Attr("name"))
		}
		named[name] = true
	}
}

// AppendDeploymentError turns an error of the repo or of a source into a diagnostic.
func AppendDeploymentError(diags *diag.Diagnostics, at destination.Destination, err error) {
	var remote *gitremote.Error
	var source *observe.SourceError
	switch {
	case errors.As(err, &source):
		diags.AddAttributeError(path.Root("source"), "A source can't be used", problem.Sentence(err))
	case errors.As(err, &remote), errors.Is(err, record.ErrNewer):
		configuration.AppendDeliveryError(diags, at, err)
	default:
		diags.AddAttributeError(path.Root("gitops_repo"), "The branch can't be read", problem.Sentence(err))
	}
}
