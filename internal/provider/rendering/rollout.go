package rendering

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// readRollout reads the argument rollout, or returns nil. It needs the fleet and the destination.
func readRollout(d tfvalue.Decoder, a *delivery.Arguments) *rollout.Rollout {
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
		given.Report("Missing reason", "pause is blank. Write the reason why no further wave follows, or remove it.",
			problem.Attr("pause"))
	}
	r.SkipUnknown = unknown.Is(r.Skip)
	if r.SkipUnknown {
		r.Skip = ""
	}
	if skip := r.Skip; skip != "" && !treeHash.MatchString(skip) {
		given.Report("Invalid hash",
			fmt.Sprintf("%q is not the hash of a tree. Set the target_tree_hash that all cluster types get at once.", skip),
			problem.Attr("skip"))
	}
	r.ReturnOnFailure, r.OnFailureUnknown = given.String("on_failure") == returnOnFailure, given.IsUnknown("on_failure")
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
	if !r.UseWindows(schemas.ReadWindows(given)) {
		given.Report("Missing observation", "The windows are checked at observed_at, the time of the observation. Set "+
			"observed to a kalypso_deployment_state as a whole.", problem.Attr("windows"))
	}
	return r
}

const returnOnFailure = "rollback"

// failures lists the reactions to a folder that fails with a rollout.
var failures = schemas.Enumeration{"stop", returnOnFailure}

var treeHash = regexp.MustCompile(`^[0-9a-f]{40}$`)

func readStage(d tfvalue.Decoder) rollout.Stage {
	stage := rollout.Stage{
		Name:     d.String("name"),
		Selector: schemas.RequiredSelector(d, "cluster_type_selector", false).Labels,
	}
	d.Check("max_concurrency", "Invalid limit", func(text string) error {
		parsed, err := limit.Parse(text)
		stage.MaxConcurrency = &parsed
		return err
	})
	d.Check("soak", "Invalid duration", func(text string) (err error) {
		stage.Soak, err = time.ParseDuration(text)
		switch {
		case err != nil:
			return fmt.Errorf("%q is not a duration, such as \"90s\", \"15m\" or \"1h\"", text)
		case stage.Soak < 0:
			return fmt.Errorf("%q is negative. Set a duration from \"0s\"", text)
		}
		return nil
	})
	return stage
}

// readObserved reads the observation of the clusters.
func readObserved(d tfvalue.Decoder, a *delivery.Arguments, r *rollout.Rollout) {
	at := destination.Destination{}
	if a.Delivers() && a.Located() {
		at = a.Destination
	}
	var known bool
	r.Observed, known = schemas.ReadObservation(d, at)
	r.ObservedUnknown = !known
}

// appendRollout reports what a rollout waits for, and what stopped it.
func appendRollout(diags *diag.Diagnostics, plan delivery.Plan) {
	p := plan.All()
	step := p.Next.Step
	if step == nil || p.Stop != nil {
		return
	}
	warnf := func(summary, form string, arguments ...any) {
		diags.AddAttributeWarning(path.Root("rollout"), summary, fmt.Sprintf(form, arguments...))
	}
	stopped := problem.IndentedList(step.Stopped, problem.MaxListed)
	switch target := p.Next.TargetTreeHash(); {
	case step.Paused != "":
		why, until := report.Pause(p.Args.Rollout)
		warnf("The rollout is paused", "%s\nNo further wave follows until %s.", why, until)
	case len(step.Restored) > 0:
		warnf("The rollout is rolled back", "In stage %q, clusters fail with the change:\n%s\nThe apply restores these "+
			"folders to their trees from before the rollout: %s. This tree is not tried again until the fleet changes. To "+
			"write it to all folders at once, set rollout.skip = %q.", step.Stage, stopped,
			problem.First(step.Restored, problem.MaxListed), target)
	case step.RolledBack != "" && len(step.Kept) > 0:
		warnf("The rollout was rolled back", "The folders were restored to their trees from before the rollout: %s. The "+
			"fleet's tree is not tried again until the fleet changes. To write it to all folders at once, set rollout.skip = "+
			"%q.", printable.Line(step.RolledBack), target)
	case len(step.Stopped) > 0:
		warnf("The rollout stopped", "In stage %q, clusters fail with the change:\n%s\nNo further wave follows. The rollout "+
			"continues once these clusters are current, or once the fleet changes these folders. To write all folders at "+
			"once, set rollout.skip = %q.", step.Stage, stopped, target)
	case waits(plan) && len(step.Waiting) > 0:
		warnf("The rollout waits", "Stage %q waits for:\n%s\nUntil then nothing is written. Plan again later. To write all "+
			"folders at once, set rollout.skip = %q.", step.Stage, problem.IndentedList(step.Waiting, problem.MaxListed), target)
	}
}

// waits reports whether the apply writes nothing to the destination because the desired tree is there or proposed.
func waits(plan delivery.Plan) bool {
	switch plan.(type) {
	case *delivery.Keep, *delivery.Withhold:
		return true
	}
	return false
}

// keptFiles returns the files, by path, in folders that this apply leaves unchanged: folders of cluster types, or of
// deployment targets. They come from the attribute files of the last apply; without it, there are none. at is the
// destination of this apply.
func keptFiles(at destination.Destination, state resources.Model, folders []string) map[string]attr.Value {
	kept := map[string]attr.Value{}
	files, _ := tfvalue.Members(state["files"])
	if len(folders) == 0 || len(files) == 0 {
		return kept
	}
	stays := sets.New(folders...)
	from := strings.TrimSuffix(decodeArguments(state.Decoder()).Destination.Join("x"), "x")
	for name, content := range files {
		below, ok := strings.CutPrefix(name, from)
		if !ok {
			continue
		}
		clusterType, rest, _ := strings.Cut(below, "/")
		target, _, _ := strings.Cut(rest, "/")
		if stays.HasAny(clusterType, clusterType+"/"+target) {
			kept[at.Join(below)] = content
		}
	}
	return kept
}
