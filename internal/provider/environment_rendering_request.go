package provider

import (
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework/attr"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// renderingRequest is what the configuration of a rendering asks for, with the defaults applied. A string that is not
// known is [fleet.Unknown].
type renderingRequest struct {
	fleet    *fleet.Fleet
	origins  []string
	place    delivery.Place
	promoted string // empty: none
	message  string

	strategy, onDrift, preview, unscheduled string
	pulls                                   pullRequestSettings

	adopt, createBranch, requireKnown bool
	guardrails                        delivery.Guardrails
	describeValues, describeKnown     bool // whether descriptions show values, and whether that is known

	// settled says that all that decides whether and what the repo may be asked to take is known, but the tree.
	settled bool
}

// readRenderingRequest reads the arguments. What is wrong with them by themselves is reported; the fleet is not
// validated.
func readRenderingRequest(arguments map[string]attr.Value) (*renderingRequest, fleet.Problems) {
	var ps fleet.Problems
	d := decoder{arguments: arguments, problems: &ps}
	r := &renderingRequest{
		promoted: d.string("promoted_commit"),
		message:  d.string("commit_message"),
		onDrift:  driftReactions.or(d.string("on_drift")),
		preview:  previews.or(d.string("preview")),
		settled:  true,
	}
	r.adopt = r.flag(d, "adopt")
	r.createBranch = r.flag(d, "create_branch")
	r.fleet, r.origins = readFleet(d)
	r.readDelivery(d)
	r.readGuardrails(d)
	r.readPlace(d)
	if r.promoted != "" && !fleet.IsUnknown(r.promoted) && !oneLine.MatchString(r.promoted) {
		d.report("Invalid promoted commit", "promoted_commit is one line without blanks, usually a commit's hash.", fleet.Attr("promoted_commit"))
	}
	if r.message != "" && gitops.CheckMessage(r.message) != nil {
		d.report("Invalid commit message", "commit_message is blank. Write a message, or remove the argument: the default message says what changes.",
			fleet.Attr("commit_message"))
	}
	return r, ps
}

var oneLine = regexp.MustCompile(`^\S+$`)

func (r *renderingRequest) flag(d decoder, name string) bool {
	value, known := d.bool(name)
	r.settled = r.settled && known
	return value
}

func (r *renderingRequest) readDelivery(d decoder) {
	r.strategy, r.describeKnown = strategies.or(""), true
	if given, ok := d.object("delivery"); ok {
		r.strategy = strategies.or(given.string("strategy"))
		r.describeValues, r.describeKnown = given.bool("describe_values")
		r.readPullRequests(given)
	}
	r.settled = r.settled && !fleet.IsUnknown(r.strategy)
}

func (r *renderingRequest) readGuardrails(d decoder) {
	r.guardrails = delivery.Guardrails{MaxRemoved: delivery.DefaultLimit}
	r.unscheduled = unscheduled.or("")
	given, ok := d.object("guardrails")
	if !ok {
		return
	}
	r.guardrails.AllowEmpty = r.flag(given, "allow_empty")
	r.requireKnown = r.flag(given, "require_known")
	r.unscheduled = unscheduled.or(given.string("unscheduled"))
	switch text := given.string("max_removed"); {
	case fleet.IsUnknown(text):
		r.settled = false
	case text != "":
		limit, err := delivery.ParseLimit(text)
		if err != nil {
			given.report("Invalid limit", fleet.Sentence(err), fleet.Attr("max_removed"))
		}
		r.guardrails.MaxRemoved = limit
	}
}

// delivers reports whether the strategy is known to bring the tree to a branch.
func (r *renderingRequest) delivers() bool {
	return r.strategy == strategyPush || r.strategy == strategyPullRequest
}

// placed reports whether it is known where the tree goes.
func (r *renderingRequest) placed() bool {
	return !anyUnknown(r.place.Repo, r.place.Branch, r.place.Path)
}

func (r *renderingRequest) readPlace(d decoder) {
	r.place.Path = "."
	given, ok := d.object("gitops_repo")
	if !ok {
		if r.delivers() {
			d.report("Missing GitOps repo", "The strategy "+r.strategy+" needs gitops_repo, with repo and branch: where the tree goes.", fleet.Attr("gitops_repo"))
		}
		return
	}
	r.place.Repo, r.place.Branch = given.string("repo"), given.string("branch")
	if text := given.string("path"); fleet.IsUnknown(text) {
		r.place.Path = text
	} else if clean, err := delivery.CleanPath(text); err != nil {
		given.report("Invalid path", fleet.Sentence(err), fleet.Attr("path"))
	} else {
		r.place.Path = clean
	}
	r.settled = r.settled && r.placed()
	switch {
	case r.place.Repo == "" && r.delivers():
		given.report("Missing repo", "The strategy "+r.strategy+" needs the URL of the GitOps repo.", fleet.Attr("repo"))
	case r.place.Repo != "" && !fleet.IsUnknown(r.place.Repo):
		if _, err := gitremote.ParseURL(r.place.Repo); err != nil {
			given.report("Invalid repo URL", fleet.Sentence(err), fleet.Attr("repo"))
		}
	}
	switch {
	case r.place.Branch == "" && r.delivers():
		given.report("Missing branch", "The strategy "+r.strategy+" needs the branch of the GitOps repo.", fleet.Attr("branch"))
	case r.place.Branch != "" && !fleet.IsUnknown(r.place.Branch):
		if err := gitops.CheckName(r.place.Branch); err != nil {
			given.report("Invalid branch name", fleet.Sentence(err), fleet.Attr("branch"))
		}
	}
}
