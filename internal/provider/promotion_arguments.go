package provider

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/lookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/repourl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// promotionArgument is the argument that takes a kalypso_promotion.
func promotionArgument(description string) schema.SingleNestedAttribute {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: description}
	}
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: description + " An object with `commit` alone is enough.",
		Attributes: map[string]schema.Attribute{
			"commit": text("The commit. Without one, nothing is promoted yet: nothing is planned, and what was delivered or " +
				"proposed stays."),
			"decision": text("How the commit was chosen. While it is `frozen`, nothing is written, and an open pull request " +
				"is a draft."),
			"reason":      text("Why the commit was chosen."),
			"summary":     text("The decision of this run, for people."),
			"rolled_back": text("The newest commit that a rollback removed."),
			"rejected": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "The rejected commits. What others reverted of them on the branch is no drift.",
			},
		},
	}
}

// promotionDataArgument is the same argument for a data source that reads the commit, with the location of the commit.
func promotionDataArgument(description string) datasource.Attribute {
	return dataSourceArgument("promotion", promotionLocationArgument(description))
}

// promotionLocationArgument is the argument with the location of the commit, without the attributes that only a record
// needs.
func promotionLocationArgument(description string) schema.SingleNestedAttribute {
	argument := promotionArgument(description)
	delete(argument.Attributes, "rolled_back")
	delete(argument.Attributes, "rejected")
	argument.Attributes["commit"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "The commit. Without one, nothing is promoted yet, and nothing is read or written for it.",
	}
	argument.Attributes["control_plane"] = schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: "Location of the commit.",
		Attributes: map[string]schema.Attribute{
			"repo": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "URL of the repo. A BaseRepo must name the same one.",
			},
			"branch": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Branch of the repo. The keys of `manifests` name it if there is no BaseRepo.",
			},
		},
	}
	return argument
}

// promotes reports whether the argument promotion is set, or may be.
func promotes(d decoder) bool {
	_, given := d.object("promotion")
	return given
}

var oneLine = regexp.MustCompile(`^\S+$`)

// readPromotion reads the argument promotion, or returns nil if it is not set.
func readPromotion(d decoder) *record.Promotion {
	given, ok := d.object("promotion")
	if !ok {
		return nil
	}
	p := &record.Promotion{Commit: given.string("commit"), Reason: record.Reason{
		Decision:   promotion.Kind(given.string("decision")),
		Reason:     given.string("reason"),
		Summary:    given.string("summary"),
		RolledBack: given.string("rolled_back"),
	}}
	if at, ok := given.object("control_plane"); ok {
		p.Repo, p.Branch = at.string("repo"), at.string("branch")
	}
	if p.Commit != "" && !unknown.Is(p.Commit) && !oneLine.MatchString(p.Commit) {
		given.report(
			"Invalid promoted commit",
			"promotion.commit must be one line without spaces. Usually it is a commit's hash.",
			problem.Attr("commit"),
		)
	}
	return p
}

// readPromotionRequest reads the arguments of kalypso_promotion, and reports invalid ones.
func readPromotionRequest(d decoder) lookup.Request {
	request := lookup.Request{GitOps: readDestination(d), ControlPlane: readControlPlaneBranch(d)}
	request.Rules = promotion.Rules{
		Environment: d.string("environment"), Statuses: readStatuses(d), Dwell: readDuration(d, "dwell", 0),
		Hold: d.string("hold"), Pinned: d.string("pinned_commit"), Approved: d.strings("approved"), Rejected: readRejected(d),
	}
	if d.blank("hold") {
		d.report("Missing reason", "hold says why the environment is frozen, and it is blank. Write the reason, or "+
			"remove it.",
			problem.Attr("hold"))
	}
	v, _ := d.argument("after")
	set, _ := members(v)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		at := newDecoder(set[name], d.problems, d.at(problem.Attr("after"), problem.Key(name))...)
		request.Rules.After = append(request.Rules.After, readGate(at, name))
	}
	for _, p := range request.Rules.Check() {
		p.Path = d.at(p.Path...)
		*d.problems = append(*d.problems, p)
	}
	return request
}

// readStatuses reads a list of names, or a map of names and who may set them.
func readStatuses(d decoder) []promotion.StatusGate {
	blank := func(step problem.Step) {
		d.report("Invalid status", "The name of a status is blank.", problem.Attr("statuses"), step)
	}
	v, known := d.argument("statuses")
	if _, list := elements(v); list || !known {
		var all []promotion.StatusGate
		for i, name := range d.strings("statuses") {
			if strings.TrimSpace(name) == "" {
				blank(problem.Index(i))
			}
			all = append(all, promotion.StatusGate{Name: name})
		}
		return all
	}
	if _, ok := members(v); !ok {
		d.report("Wrong type", "Expected a list of names, or a map of names, as in { ci = { by = \"acme-ci[bot]\" } }.",
			problem.Attr("statuses"))
		return nil
	}
	set := d.objectMap("statuses")
	var all []promotion.StatusGate
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if strings.TrimSpace(name) == "" {
			blank(problem.Key(name))
		}
		set[name].allow("by")
		set[name].reportBlank("by")
		all = append(all, promotion.StatusGate{Name: name, By: set[name].string("by")})
	}
	return all
}

// defaultRenewedWithin is the default of renewed_within.
const defaultRenewedWithin = time.Hour

func readGate(d decoder, name string) promotion.Gate {
	g := promotion.Gate{
		Name:          name,
		Context:       cmp.Or(d.string("context"), promotion.ContextOf(name)),
		Soak:          readDuration(d, "soak", 0),
		RenewedWithin: readDuration(d, "renewed_within", defaultRenewedWithin),
		By:            d.string("by"),
	}
	d.reportBlank("context", "soak", "by", "renewed_within")
	if d.string("soak") == "" && d.string("renewed_within") != "" {
		d.report("Missing soak", "renewed_within says how often a soak needs a good status, and there is no soak. Set soak, "+
			"or remove renewed_within.", problem.Attr("renewed_within"))
	}
	deployed, given := d.object("deployed")
	if !given {
		return g
	}
	g.Deployed = &promotion.Deployed{Verdict: deployed.string("verdict"), Commit: deployed.string("promoted_commit")}
	for _, name := range []string{"soak", "context", "by", "renewed_within"} {
		if d.string(name) != "" {
			d.report(
				"Conflicting arguments",
				fmt.Sprintf("%s belongs to a status, but deployed passes a state instead. Remove one of them.", name),
				problem.Attr(name),
			)
		}
	}
	return g
}

// readControlPlaneBranch reads the argument control_plane.
func readControlPlaneBranch(d decoder) lookup.ControlPlane {
	given, ok := d.object("control_plane")
	if !ok || given.unknown {
		return lookup.ControlPlane{}
	}
	at := lookup.ControlPlane{Repo: given.string("repo"), Branch: given.string("branch")}
	if at.Repo == "" {
		given.report("Missing repo", "control_plane needs repo and branch.", problem.Attr("repo"))
	} else if !unknown.Is(at.Repo) {
		if _, err := repourl.Parse(at.Repo); err != nil {
			given.report("Invalid repo URL", problem.Sentence(err), problem.Attr("repo"))
		}
	}
	if at.Branch == "" {
		given.report("Missing branch", "control_plane needs repo and branch.", problem.Attr("branch"))
	} else if !unknown.Is(at.Branch) {
		if err := gitops.CheckName(at.Branch); err != nil {
			given.report("Invalid branch name", problem.Sentence(err), problem.Attr("branch"))
		}
	}
	return at
}

// readRejected reads a map whose elements may be null.
func readRejected(d decoder) map[string]string {
	v, known := d.argument("rejected")
	if !known {
		return nil
	}
	rejected := map[string]string{}
	set, _ := members(v)
	for commit, good := range set {
		rejected[commit] = ""
		if !isNull(good) {
			rejected[commit] = d.text(good, problem.Attr("rejected"), problem.Key(commit))
		}
	}
	return rejected
}

// promotionValues returns the computed attributes of kalypso_promotion.
func promotionValues(found *promotion.Decision) map[string]attr.Value {
	waiting, skipped := []values{}, []values{}
	for _, w := range found.Waiting {
		waiting = append(waiting, values{"commit": w.Commit, "gate": w.Gate, "reason": w.Reason, "by": orNil(w.By)})
	}
	for _, s := range found.Skipped {
		skipped = append(skipped, values{"commit": s.Commit, "reason": s.Reason})
	}
	all := values{
		"commit":          orNil(found.Commit),
		"current":         orNil(found.Current),
		"candidate":       orNil(found.Candidate),
		"decision":        string(found.Kind),
		"waiting":         waiting,
		"skipped":         skipped,
		"proposed_commit": orNil(found.Proposed),
		"reason":          orNil(found.Reason),
		"summary":         found.Summary,
		"rolled_back":     orNil(found.RolledBack),
	}
	results := map[string]attr.Value{}
	for name, attribute := range promotionComputed() {
		results[name] = result(attribute.GetType(), all[name])
	}
	return results
}
