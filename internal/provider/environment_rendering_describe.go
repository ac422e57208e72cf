package provider

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// readReview finds how people are told of a change: with the pages of the host that the provider is configured for, which
// is not contacted.
func (o *renderingOutcome) readReview(data *providerData) {
	o.review, o.reviewable = delivery.Review{Values: o.describeValues}, o.describeKnown
	if data == nil || fleet.IsUnknown(data.github.BaseURL) {
		o.reviewable = false
		return
	}
	host, err := newHost(githubSettings{BaseURL: data.github.BaseURL}, nil)
	if err != nil {
		return // without pages
	}
	o.review.Links = describe.Links{
		Commit: func(repo, commit string) string {
			if at, err := host.Repo(repo); err == nil {
				return at.CommitURL(commit)
			}
			return ""
		},
		Compare: func(repo, from, to string) string {
			if at, err := host.Repo(repo); err == nil {
				return at.CompareURL(from, to)
			}
			return ""
		},
	}
	if at, err := host.Repo(o.place.Repo); err == nil {
		o.review.Max = at.MaxBody()
	}
}

// describable reports whether all is known that a description tells of.
func (o *renderingOutcome) describable() bool {
	return o.reviewable && o.known() && (o.placed() || o.strategy == strategyNone) && !anyUnknown(o.strategy, o.fleet.Environment, o.promoted) &&
		!slices.ContainsFunc(o.fleet.Configs, func(c *fleet.Config) bool {
			return fleet.IsUnknown(c.Name) || fleet.AnyUnknown(c.Labels) || fleet.AnyUnknown(c.Data)
		}) &&
		!slices.ContainsFunc(o.fleet.Policies, func(p *fleet.SchedulingPolicy) bool { return fleet.IsUnknown(p.Name) })
}

// descriptionAfter tells people what an apply changes.
func (o *renderingOutcome) descriptionAfter(before *delivery.State) types.String {
	if !o.describable() || !o.comparable(before) {
		return types.StringUnknown()
	}
	return o.description(before)
}

// description tells people what changes what was there before.
func (o *renderingOutcome) description(before *delivery.State) types.String {
	return types.StringValue(o.order(commitAuthor{}, before).Describe(before))
}
