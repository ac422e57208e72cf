package rendering

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// readRollout reads the argument rollout, or returns nil. It needs the fleet and the destination.
func readRollout(d tfvalue.Decoder, a *wish.Arguments) *rollout.Rollout {
	given, ok := d.Object("rollout")
	if !ok {
		return nil
	}
	r := &rollout.Rollout{
		StagesUnknown: given.IsUnknown("stages") || a.Fleet.Incomplete, Skip: given.String("skip"),
		Pause: given.String("pause"),
	}
	r.PauseUnknown = unknown.Is(r.Pause)
	if given.Blank("pause") {
		given.Report("Missing reason", "pause says why no further wave follows, and it is blank. Write the reason, or "+
			"remove it.",
			problem.Attr("pause"))
	}
	if r.SkipUnknown = unknown.Is(r.Skip); r.SkipUnknown {
		r.Skip = ""
	}
	if skip := r.Skip; skip != "" && !treeHash.MatchString(skip) {
		given.Report("Invalid hash",
			fmt.Sprintf("%q is not the hash of a tree. Set the target_tree_hash that all cluster types get at once.", skip),
			problem.Attr("skip"))
	}
	before := len(*d.Problems)
	for _, stage := range given.Objects("stages") {
		r.Stages = append(r.Stages, readStage(stage))
		r.StagesUnknown = r.StagesUnknown || stage.Unknown ||
			stage.IsUnknown("soak") || stage.IsUnknown("max_concurrency")
	}
	if len(*d.Problems) == before {
		*d.Problems = append(*d.Problems, r.Validate(a.Fleet.ClusterTypes, problem.Attr("rollout"))...)
	}
	readObserved(given, a, r)
	readWindows(given, r)
	return r
}

// readWindows reads the windows. The time of the observation decides whether they are open, so a plan and its apply
// decide the same.
func readWindows(d tfvalue.Decoder, r *rollout.Rollout) {
	all, known := schemas.ReadWindows(d)
	switch {
	case known && len(all) == 0:
	case !known || r.ObservedUnknown:
		r.PauseUnknown = r.PauseUnknown || r.Pause == ""
	case r.Observed == nil:
		d.Report("Missing observation", "Windows are open or closed at observed_at, the time of the observation. Set "+
			"observed to a kalypso_deployment_state as a whole.", problem.Attr("windows"))
	default:
		r.Window = all.At(r.Observed.At)
	}
}

var treeHash = regexp.MustCompile(`^[0-9a-f]{40}$`)

func readStage(d tfvalue.Decoder) rollout.Stage {
	stage := rollout.Stage{
		Name:     d.String("name"),
		Selector: schemas.RequiredSelector(d, "cluster_type_selector", false).Labels,
	}
	if text := d.String("max_concurrency"); text != "" && !unknown.Is(text) {
		most, err := limit.Parse(text)
		if err != nil {
			d.Report("Invalid limit", problem.Sentence(err), problem.Attr("max_concurrency"))
		}
		stage.MaxConcurrency = &most
	}
	if text := d.String("soak"); text != "" && !unknown.Is(text) {
		soak, err := time.ParseDuration(text)
		switch {
		case err != nil:
			d.Report("Invalid duration", fmt.Sprintf("%q is not a duration, such as \"90s\", \"15m\" or \"1h\".", text),
				problem.Attr("soak"))
		case soak < 0:
			d.Report(
				"Invalid duration",
				fmt.Sprintf("%q is negative. Set a duration from \"0s\".", text),
				problem.Attr("soak"),
			)
		}
		stage.Soak = soak
	}
	return stage
}

// readObserved reads the observation of the clusters. It reports an observation of another location.
func readObserved(d tfvalue.Decoder, a *wish.Arguments, r *rollout.Rollout) {
	given, ok := d.Object("observed")
	v, _ := d.Argument("observed")
	switch {
	case !ok:
		return
	case given.Unknown || !tfvalue.WhollyKnown(v):
		r.ObservedUnknown = true
		return
	}
	if at := schemas.ReadDestination(given); at.Repo == "" {
		given.Report("Missing GitOps repo", "observed lacks gitops_repo. Pass a kalypso_deployment_state as a whole, or "+
			"its gitops_repo, observed_at, folders and problems.",
			problem.Attr("gitops_repo"))
	} else if a.Delivers() && a.Located() && !at.Same(a.Destination) {
		given.Report("Observation of another location",
			fmt.Sprintf("observed describes %s, but the rendering writes to %s. Pass the kalypso_deployment_state of the "+
				"latter.", at, a.Destination), problem.Attr("gitops_repo"))
	}
	at := schemas.ReadTime(given, "observed_at")
	seen := &rollout.Observation{At: at, Folders: map[string]deployment.FolderState{}}
	if text := given.String("observed_at"); text == "" {
		given.Report("Missing time", "observed lacks observed_at, the time of the observation.",
			problem.Attr("observed_at"))
	}
	folders, _ := given.Argument("folders")
	all, _ := tfvalue.Members(folders)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		seen.Folders[name] = readFolderState(tfvalue.NewDecoder(all[name], d.Problems, given.At(problem.Attr("folders"),
			problem.Key(name))...))
	}
	for _, p := range given.Objects("problems") {
		seen.Problems = append(seen.Problems, deployment.Problem{
			Cluster: p.String("cluster"), Folder: p.String("folder"), State: deployment.ClusterState(p.String("state")),
			Message: p.String("message"),
		})
	}
	r.Observed = seen
}

var verdicts = []deployment.Verdict{deployment.Success, deployment.Pending, deployment.Failure}

func readFolderState(d tfvalue.Decoder) deployment.FolderState {
	count := func(name string) int {
		if n := d.Int(name); n != nil {
			return *n
		}
		return 0
	}
	f := deployment.FolderState{
		Tree: d.String("tree_hash"), Verdict: deployment.Verdict(d.String("verdict")), Since: schemas.ReadTime(d, "since"),
		Counts: deployment.Counts{Total: count("total"), Current: count("current")},
	}
	if d.Int("total") == nil {
		d.Report("Missing total", "The folder lacks total, the number of clusters that follow it. Pass a "+
			"kalypso_deployment_state as a whole.", problem.Attr("total"))
	}
	if !slices.Contains(verdicts, f.Verdict) {
		d.Report("Invalid verdict", fmt.Sprintf("%q is not one of success, pending, failure.", f.Verdict),
			problem.Attr("verdict"))
	}
	return f
}

// setRollout sets the computed attributes of a rollout. Without a rollout they are null.
func (m *environmentRenderingModel) setRollout(r *rendering) {
	m.TargetTreeHash, m.RolloutStatus = types.StringNull(), types.StringNull()
	switch {
	case m.Rollout.IsNull():
	case m.Rollout.IsUnknown() || r.Next.TargetTreeHash() == "":
		m.TargetTreeHash, m.RolloutStatus = types.StringUnknown(), types.StringUnknown()
	default:
		m.TargetTreeHash = types.StringValue(r.Next.TargetTreeHash())
	}
	switch {
	case m.Rollout.IsNull() || m.Rollout.IsUnknown() || r.Next.Rendered.Tree == nil:
	case r.Next.Known == inventory.Unread:
		m.RolloutStatus = types.StringUnknown()
	default:
		m.RolloutStatus = tfvalue.Nullable(r.Next.Rollout.Status())
	}
}

// appendRollout reports what a rollout waits for, and what stopped it.
func appendRollout(diags *diag.Diagnostics, decision *delivery.Decision) {
	step := decision.Step
	if step == nil {
		return
	}
	at := path.Root("rollout")
	switch {
	case step.Paused != "":
		why, until := report.Pause(decision.Applied.Wish.Rollout)
		diags.AddAttributeWarning(at, "The rollout is paused", fmt.Sprintf("%s\nNo further wave follows until %s.", why,
			until))
	case len(step.Stopped) > 0:
		diags.AddAttributeWarning(
			at,
			"The rollout stopped",
			fmt.Sprintf("In stage %q, clusters fail with the change:\n%s\n"+
				"No further wave follows. The rollout continues once these clusters are current, or once the fleet changes "+
				"these folders. To write all folders at once, set rollout.skip = %q.",
				step.Stage, problem.IndentedList(step.Stopped, problem.MaxListed), decision.Applied.TargetTreeHash()),
		)
	case (decision.Action == delivery.Keep || decision.Action == delivery.Withhold) && len(step.Waiting) > 0:
		diags.AddAttributeWarning(at, "The rollout waits", fmt.Sprintf("Stage %q waits for:\n%s\n"+
			"Until then nothing is written. Plan again later. To write all folders at once, set rollout.skip = %q.",
			step.Stage, problem.IndentedList(step.Waiting, problem.MaxListed), decision.Applied.TargetTreeHash()))
	}
}

// keptFiles returns the files, by path, that the last apply left in folders that stay as they are: those of cluster
// types, or of deployment targets in them. It returns none if the last apply showed none.
func (r *rendering) keptFiles(state *environmentRenderingModel, folders []string) map[string]attr.Value {
	kept := map[string]attr.Value{}
	if len(folders) == 0 || state == nil || state.Files.IsNull() || state.Files.IsUnknown() {
		return kept
	}
	stays := map[string]bool{}
	for _, folder := range folders {
		stays[folder] = true
	}
	from := strings.TrimSuffix(state.arguments().Destination.Join("x"), "x")
	for name, content := range state.Files.Elements() {
		below, ok := strings.CutPrefix(name, from)
		if !ok {
			continue
		}
		clusterType, rest, _ := strings.Cut(below, "/")
		target, _, _ := strings.Cut(rest, "/")
		if stays[clusterType] || stays[clusterType+"/"+target] {
			kept[r.Next.Wish.Destination.Join(below)] = content
		}
	}
	return kept
}
