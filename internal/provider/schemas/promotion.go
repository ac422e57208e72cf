package schemas

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/promotionlookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// commitIsEnough ends the description of an argument that takes a kalypso_promotion.
const commitIsEnough = " An object with `commit` alone is enough."

// PromotionArgument is the argument that takes a kalypso_promotion.
func PromotionArgument(description string) schema.SingleNestedAttribute {
	return OptionalObject(description+commitIsEnough, map[string]schema.Attribute{
		"commit": OptionalString(
			"The commit. Null means that nothing is promoted yet: nothing is planned, and earlier deliveries and pull " +
				"requests stay.",
		),
		"decision": OptionalString(
			"How the commit was chosen. While it is `frozen`, nothing is written, and an open pull request " +
				"is a draft.",
		),
		"reason":     OptionalString("Why the commit was chosen."),
		"summary":    OptionalString("The decision of this run, for people."),
		"open_until": OptionalString("When the windows close. After that, an apply does not promote another commit."),
		"closed": OptionalString("When the closed windows open again. Until then, an open pull request that promotes " +
			"another commit is a draft."),
		"rolled_back": OptionalString("The newest commit that a rollback removed."),
		"by":          OptionalString("`rollback` if the environment was rolled back automatically."),
		"unsettled": OptionalBool("Whether the environment was rolled back automatically, and has not been observed as " +
			"`success` since. With `false`, the record notes the success."),
		"unproven": OptionalString(
			"Why the gates of the commit in the record are closed now. If the rendering delivered another commit, it does " +
				"not accept this one from the record."),
		"rejected": OptionalStrings("The rejected commits. A revert of these commits on the branch is not drift."),
		"approved": OptionalTexts("The approved commits. If the promotion chooses one of them, the rendering does not " +
			"mind which commit the record on the branch promotes."),
	})
}

// PromotionDataArgument is [PromotionArgument] for a data source that reads the commit. It adds the location of the
// commit.
func PromotionDataArgument(description string) schema.SingleNestedAttribute {
	attributes := PromotionLocationArgument("").Attributes
	delete(attributes, "open_until")
	delete(attributes, "closed")
	attributes["unverified"] = OptionalString("Why the signature of the commit does not count, although people " +
		"approved or pinned it. Such a commit is read with a warning.")
	return OptionalObject(description+commitIsEnough, attributes)
}

// PromotionLocationArgument is [PromotionArgument] with the location of the commit, and without the attributes that
// only a record needs.
func PromotionLocationArgument(description string) schema.SingleNestedAttribute {
	attributes := PromotionArgument("").Attributes
	for _, name := range []string{"rolled_back", "by", "unsettled", "unproven", "rejected", "approved"} {
		delete(attributes, name)
	}
	attributes["commit"] = OptionalString(
		"The commit. Null means that nothing is promoted yet, so nothing is read or written for it.",
	)
	attributes["control_plane"] = OptionalObject("Location of the commit.", map[string]schema.Attribute{
		"repo":   OptionalString("URL of the repo. A BaseRepo must name the same one."),
		"branch": OptionalString("Branch of the repo. The keys of `manifests` name it if there is no BaseRepo."),
	})
	return OptionalObject(description+commitIsEnough, attributes)
}

// Promotes reports whether the argument promotion is set, or may be.
func Promotes(d tfvalue.Decoder) bool {
	_, given := d.Object("promotion")
	return given
}

var oneLine = regexp.MustCompile(`^\S+$`)

// ReadPromotion reads the argument promotion, or returns nil if it is not set.
func ReadPromotion(d tfvalue.Decoder) *promotion.Promotion {
	given, ok := d.Object("promotion")
	if !ok {
		return nil
	}
	p := new(promotion.Promotion)
	read := given
	if given.String("decision") != string(promotion.Promote) { // mocks of terraform test fill it with random text
		read.Arguments = maps.Clone(given.Arguments)
		delete(read.Arguments, "open_until") // no other decision uses it
	}
	read.Read(p)
	_, set := given.Argument("unsettled")
	p.Settled = set && !p.Unsettled
	for _, text := range []*string{&p.Unproven, &p.Unverified, &p.Closed} {
		if unknown.Is(*text) {
			*text = ""
		}
	}
	if at, ok := given.Object("control_plane"); ok {
		p.Repo, p.Branch = at.String("repo"), at.String("branch")
	}
	if p.Commit != "" && !unknown.Is(p.Commit) && !oneLine.MatchString(p.Commit) {
		given.Report(
			"Invalid promoted commit",
			"promotion.commit must be one line without spaces. Usually it is a commit's hash.",
			problem.Attr("commit"),
		)
	}
	return p
}

// ReadPromotionRequest reads the arguments of kalypso_promotion, and reports invalid ones.
func ReadPromotionRequest(d tfvalue.Decoder) promotionlookup.Request {
	request := promotionlookup.Request{GitOps: ReadDestination(d), ControlPlane: ReadControlPlaneBranch(d)}
	d.Read(&request.Rules)
	request.Rules.Statuses, request.Rules.Rejected = readStatuses(d), ReadRejected(d)
	request.Rules.Windows, _ = ReadWindows(d)
	if d.Blank("hold") {
		d.Report("Missing reason", "hold is blank. Write the reason why the environment is frozen, or remove it.",
			problem.Attr("hold"))
	}
	request.Rules.Rollback = readRollback(d, request.GitOps)
	for name, at := range d.Each("after") {
		request.Rules.Gates = append(request.Rules.Gates, readGate(at, name))
	}
	for _, p := range request.Rules.Check() {
		p.Path = d.At(p.Path...)
		*d.Problems = append(*d.Problems, p)
	}
	return request
}

// readRollback reads the argument rollback, or returns nil if it is not set.
func readRollback(d tfvalue.Decoder, at destination.Destination) *promotion.AutomaticRollback {
	given, ok := d.Object("rollback")
	if !ok || given.Unknown {
		return nil
	}
	seen, _ := ReadObservation(given, at)
	if seen != nil && seen.Head == "" && seen.Verdict != deployment.Pending {
		given.Report("Missing head", "observed lacks head, the commit of the GitOps branch that was observed. Pass a "+
			"kalypso_deployment_state as a whole.", problem.Attr("observed"), problem.Attr("head"))
	}
	if seen != nil && !slices.Contains(verdicts, seen.Verdict) {
		given.Report("Invalid verdict", fmt.Sprintf("%q is not one of success, pending, failure.", seen.Verdict),
			problem.Attr("observed"), problem.Attr("verdict"))
	}
	return &promotion.AutomaticRollback{Observed: seen, FailureDuration: ReadDuration(given, "after", 0)}
}

// readStatuses reads a list of names, or a map of names and who may set them.
func readStatuses(d tfvalue.Decoder) []promotion.StatusGate {
	blank := func(step problem.Step) {
		d.Report("Invalid status", "The name of a status is blank.", problem.Attr("statuses"), step)
	}
	v, known := d.Argument("statuses")
	if _, list := tfvalue.Elements(v); list || !known {
		var all []promotion.StatusGate
		for i, name := range d.Strings("statuses") {
			if strings.TrimSpace(name) == "" {
				blank(problem.Index(i))
			}
			all = append(all, promotion.StatusGate{Name: name})
		}
		return all
	}
	if _, ok := tfvalue.Members(v); !ok {
		d.Report("Wrong type", "Expected a list of names, or a map of names, as in { ci = { by = \"acme-ci[bot]\" } }.",
			problem.Attr("statuses"))
		return nil
	}
	set := d.ObjectMap("statuses")
	var all []promotion.StatusGate
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if strings.TrimSpace(name) == "" {
			blank(problem.Key(name))
		}
		set[name].Allow("by")
		set[name].ReportBlank("by")
		all = append(all, promotion.StatusGate{Name: name, By: set[name].String("by")})
	}
	return all
}

// defaultRenewedWithin is the default of renewed_within.
const defaultRenewedWithin = time.Hour

func readGate(d tfvalue.Decoder, name string) promotion.Gate {
	var g promotion.Gate
	d.Read(&g)
	g.Name, g.Context = name, cmp.Or(g.Context, promotion.ContextOf(name))
	g.RenewedWithin = cmp.Or(g.RenewedWithin, defaultRenewedWithin)
	d.ReportBlank("context", "soak", "by", "renewed_within")
	if d.String("soak") == "" && d.String("renewed_within") != "" {
		d.Report(
			"Missing soak",
			"renewed_within says how often a soak needs a good status, and there is no soak. Set soak, "+
				"or remove renewed_within.",
			problem.Attr("renewed_within"),
		)
	}
	if g.Deployed == nil {
		return g
	}
	for _, name := range []string{"soak", "context", "by", "renewed_within"} {
		if d.String(name) != "" {
			d.Report(
				"Conflicting arguments",
				fmt.Sprintf("%s belongs to a status, but deployed passes a state instead. Remove one of them.", name),
				problem.Attr(name),
			)
		}
	}
	return g
}

// ReadControlPlaneBranch reads the argument control_plane.
func ReadControlPlaneBranch(d tfvalue.Decoder) promotionlookup.ControlPlane {
	given, ok := d.Object("control_plane")
	if !ok || given.Unknown {
		return promotionlookup.ControlPlane{}
	}
	at := promotionlookup.ControlPlane{
		Repo: given.String("repo"), Branch: given.String("branch"), Verify: readVerify(given),
	}
	if at.Repo == "" {
		given.Report("Missing repo", "control_plane needs repo and branch.", problem.Attr("repo"))
	}
	given.Check("repo", "Invalid repo URL", CheckRepoURL)
	if at.Branch == "" {
		given.Report("Missing branch", "control_plane needs repo and branch.", problem.Attr("branch"))
	}
	given.Check("branch", "Invalid branch name", gitbranch.CheckName)
	return at
}

// ReadRejected reads a map whose elements may be null.
func ReadRejected(d tfvalue.Decoder) map[string]string {
	v, known := d.Argument("rejected")
	if !known {
		return nil
	}
	rejected := map[string]string{}
	set, _ := tfvalue.Members(v)
	for commit, good := range set {
		rejected[commit] = ""
		if !tfvalue.IsNull(good) {
			rejected[commit] = d.Text(good, problem.Attr("rejected"), problem.Key(commit))
		}
	}
	return rejected
}

// PromotionValues returns the computed attributes of kalypso_promotion.
func PromotionValues(found *promotion.Choice) tfvalue.Values {
	all := tfvalue.ValuesOf(found)
	all[VerifiedAttribute] = VerifiedValue(found.Verified)
	if !found.Unsettled && !found.Settled {
		all["unsettled"] = nil
	}
	return all
}
