package schemas

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// The values of on_error.
const (
	errorsFail     = "fail"
	ErrorsLastGood = "last_good"
)

var errorReactions = Enumeration{errorsFail, ErrorsLastGood}

// FollowArguments returns the arguments of a data source that follows registrations. record describes the record of the
// last delivery, and verified the argument verify.
func FollowArguments(record, verified string) map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"pins": OptionalStrings("Commits to read instead of branch heads, by the names of registrations. With pins, an " +
			"environment stays on the promoted commits, and an application's pipeline can plan its own pull request. Each " +
			"value is a full hash; null pins nothing."),
		"on_error": errorReactions.Attribute(
			"The reaction to a broken registration: its branch or folder does not exist, " +
				"it has no Workload or two with the same name, or a Workload can't be read, is invalid or has the same name as " +
				"another team's Workload. Every broken registration is reported. With `last_good`, it is read at the commit in " +
				record + ", with a warning. If there is no such commit, or the registration is pinned, that is an error. If " +
				"two registrations have a Workload of the same name, `last_good` keeps the delivered one, and only the other " +
				"registration is broken.",
		),
		"verify":          verifyArgument(verified),
		VerifiedAttribute: verifiedOutput(),
	}
}

// FollowTimeout describes timeouts.read of a data source that follows registrations.
var FollowTimeout = TimeoutText("Time limit for reading all repos")

// SourcesAttribute names the argument of a rendering, and the output of data sources, with the commits that were read.
const SourcesAttribute = "sources"

// SourcesOutput returns the attribute with the commits that a data source read.
func SourcesOutput() schema.MapAttribute {
	return ComputedStrings("The commits that were read, for `sources` of a `kalypso_environment_rendering`: " +
		"`repo@branch:folder` → the full hash. Keys of `manifests` contain only the branch, so that a commit that changes " +
		"no object changes no key. If a folder is read at several commits, both keys contain `~` and the name of the " +
		"registration or BaseRepo after the branch.")
}

// ReadPins reads the pins, without the null ones.
func ReadPins(d tfvalue.Decoder) map[string]string {
	given, _ := tfvalue.Members(d.Arguments["pins"])
	pins := map[string]string{}
	for name, commit := range given {
		if !tfvalue.IsNull(commit) {
			pins[name] = d.Text(commit, problem.Attr("pins"), problem.Key(name))
		}
	}
	return pins
}

// DeliveredOrigins returns the origins of the tree that was last delivered to a destination.
func DeliveredOrigins(ctx context.Context, client *gitremote.Client, at *source.GitOpsRepo) ([]origin.Origin, error) {
	if client == nil {
		return nil, errors.New("the provider's configuration is not known yet, so the GitOps repo can't be read")
	}
	clean, err := destination.CleanPath(at.Path)
	if err != nil {
		return nil, err
	}
	return remote.Origins(ctx, client, destination.Destination{Repo: at.Repo, Branch: at.Branch, Path: clean})
}

// LastOrigins is [DeliveredOrigins], but returns no origins and no error if nothing was delivered.
func LastOrigins(ctx context.Context, client *gitremote.Client, at *source.GitOpsRepo) ([]origin.Origin, error) {
	origins, err := DeliveredOrigins(ctx, client, at)
	if errors.Is(err, delivery.ErrNoRendering) {
		return nil, nil
	}
	return origins, err
}
