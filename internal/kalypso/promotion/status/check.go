package status

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// The maximum lengths of texts, in characters: the smallest of all hosts.
const (
	MaxContext     = 255
	MaxDescription = 140
)

// Shorten cuts a description to [MaxDescription], and marks the cut.
func Shorten(description string) string {
	if text := []rune(description); len(text) > MaxDescription {
		return string(text[:MaxDescription-1]) + "…"
	}
	return description
}

// CheckTargetURL returns an error if a text is not the URL of a web page.
func CheckTargetURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("an absolute URL is required, such as https://ci.acme.io/runs/1")
	case u.User != nil:
		return errors.New("the URL contains a user name or password, which everybody with access to the repo would see")
	}
	return nil
}

// Check reports arguments that conflict, are missing or set no status.
func (a Arguments) Check() (ps problem.Problems) {
	report := func(severity problem.Severity, argument, summary, detail string) {
		path := []problem.Step{problem.Attr(argument)}
		ps = append(ps, problem.Problem{Severity: severity, Path: path, Summary: summary, Detail: detail})
	}
	for _, argument := range []struct {
		name, value string
		required    bool
	}{
		{"commit", a.Commit, true},
		{"state", a.State, true},
		{"description", a.Description, false},
	} {
		switch {
		case a.Deployment != nil && argument.value != "":
			report(problem.Error, argument.name, "Two statuses",
				argument.name+" is set and comes from deployment too. Remove one of the two.")
		case a.Deployment == nil && argument.value == "" && argument.required:
			report(problem.Error, argument.name, "Missing "+argument.name,
				"Set commit and state, or deployment, which contains both.")
		}
	}
	if a.Deployment == nil {
		return ps
	}
	switch commit := a.Deployment.PromotedCommit; {
	case unknown.Is(commit):
	case commit != "":
		if err := githost.CheckCommit(commit); err != nil {
			report(problem.Error, "deployment", "Invalid promoted commit",
				fmt.Sprintf("%q: %s", commit, problem.Sentence(err)))
		}
	case a.known():
		report(problem.Warning, "deployment", "No status is set",
			"The deployment has no promoted commit: nothing was promoted there yet, or the branch contains no rendering. The "+
				"status is set once it has one.")
	}
	return ps
}
