package pullrequest

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

const maxLabel = 50 // characters, as GitHub allows

// reviewer matches a user, the mail of one, one of a Windows domain, or a team of an organisation or a project, whose
// names may have spaces inside.
var reviewer = regexp.MustCompile(`^(?:[A-Za-z0-9_.-]+(?:\[bot\])?|[^\s/@\pC]+@[^\s/@\pC]+|` +
	`[A-Za-z0-9_.-]+\\[A-Za-z0-9_.-]+|` +
	`[^\s/\pC](?:[^/\pC]*[^\s/\pC])?/[^\s/\pC](?:[^/\pC]*[^\s/\pC])?)$`)

// Validate reports invalid settings of the argument delivery. It skips settings that are not known yet.
func Validate(s Settings) (ps problem.Problems) {
	add := func(attribute, summary, detail string) {
		ps = append(ps, problem.At(summary, detail, "delivery", attribute))
	}
	if err := CheckBranchPrefix(s.BranchPrefix); err != nil && !unknown.Is(s.BranchPrefix) {
		add("branch_prefix", "Invalid branch prefix", problem.Sentence(err))
	}
	for _, label := range s.Labels {
		if !unknown.Is(label) && (label == "" || len([]rune(label)) > maxLabel) {
			add("labels", "Invalid label", fmt.Sprintf("%q is not a label. A label has 1 to %d characters.", label, maxLabel))
		}
	}
	for _, name := range s.Reviewers {
		if err := CheckReviewer(name); err != nil {
			add("reviewers", "Invalid reviewer", problem.Sentence(err))
		}
	}
	if s.Draft && s.AutoMerge != "" && !unknown.Is(string(s.AutoMerge)) {
		add("auto_merge", "Conflicting arguments: draft and auto-merge",
			"No host merges drafts. Set draft or auto_merge, not both.")
	}
	return ps
}

// CheckReviewer returns an error if a name is neither a user's nor a team's. It accepts a name that is not known yet.
func CheckReviewer(name string) error {
	if unknown.Is(name) || reviewer.MatchString(name) {
		return nil
	}
	return fmt.Errorf("%q is neither a user, such as \"octocat\", nor a team, such as \"acme/platform\"", name)
}

// ValidateRepo reports a repo that can't have pull requests: a folder on this machine.
func ValidateRepo(repo string) problem.Problems {
	at, err := giturl.Parse(repo) // an invalid URL is another problem
	local := err == nil && at.IsLocal()
	if unknown.Is(repo) || !local {
		return nil
	}
	return problem.Problems{problem.At("Pull requests need a Git host", fmt.Sprintf("%s is a folder on this machine, and "+
		"a folder has no pull requests. Use delivery.strategy = \"push\", or a repo on a Git host.", at),
		"delivery", "strategy")}
}

// CheckHost returns an error if the host of a repo can't do what pull requests are configured for; see
// [githost.Traits.CheckSupport]. It contacts no server, and skips settings that are not known yet.
func CheckHost(repo githost.Repo, s Settings) error {
	wanted := githost.Settings{Reviewers: s.Reviewers, Labels: s.Labels, AutoMerge: s.AutoMerge}
	if unknown.Is(string(s.AutoMerge)) {
		wanted.AutoMerge = ""
	}
	return repo.CheckSupport(wanted)
}

// CheckSettings returns errors if the host refuses the settings of pull requests to a branch: see
// [githost.Repo]. It skips settings that are not known yet.
func CheckSettings(ctx context.Context, repo githost.Repo, target string, s Settings) []error {
	if repo.CheckSettings == nil {
		return nil
	}
	if unknown.Is(string(s.AutoMerge)) {
		s.AutoMerge = ""
	}
	return repo.CheckSettings(ctx, target, s.AutoMerge, slices.DeleteFunc(slices.Clone(s.Reviewers), unknown.Is))
}
