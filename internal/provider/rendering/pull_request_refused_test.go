package rendering_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// TestAccPullRequestNoCredential: a plan that would open a pull request without a credential fails before anything is
// pushed. It does not suggest GITHUB_TOKEN if the provider would not use this variable.
func TestAccPullRequestNoCredential(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.Env = append(r.Env, "GITHUB_TOKEN=")
	r.Set(
		"git_credentials",
		[]any{map[string]any{"url": r.on.URL, "username": "x-access-token", "password": r.fake.Token}},
	)
	r.Set("github", map[string]any{"base_url": r.fake.URL})
	r.ExpectError(
		[]string{"No credential for GitHub", "Set token or app in github of the provider."},
		"plan",
		"-no-color",
	)
	r.Set("github", map[string]any{"base_url": r.fake.URL, "token": "wrong"})
	r.ExpectError([]string{"GitHub does not accept the credential", "Check token or app in github of the provider."},
		"plan", "-no-color")
	if strings.Contains(r.Printed.String(), "GITHUB_TOKEN") {
		t.Errorf("a plan names GITHUB_TOKEN:\n%s", r.Printed.String())
	}
	r.Set("github", nil)
	r.ExpectError([]string{"Repo is on no configured host", "base_url in github"}, "plan", "-no-color")
	r.Set("place", map[string]any{"repo": "https://github.com/acme/gitops", "branch": "dev"})
	r.ExpectError([]string{"No credential for GitHub", "or the environment variable GITHUB_TOKEN."}, "plan", "-no-color")
	if len(r.pulls()) > 0 {
		t.Error("there is a pull request")
	}
}

// TestAccPullRequestFields: the error is at the argument that GitHub refuses, and the next apply continues.
func TestAccPullRequestFields(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	for name, refuse := range map[string]func(){
		"labels": func() {
			r.delivery("labels", []string{"platform"})
			r.fake.Fail("POST", "/labels", 1, hostfake.Failure{Status: 422, Body: `{"message":"Validation Failed"}`})
		},
		"reviewers": func() { r.delivery("reviewers", []string{"acme/nobody"}) },
		"auto_merge": func() {
			r.delivery("auto_merge", "squash")
			r.on.Require("dev", "ci")
			r.fake.Fail("POST", "/graphql", 1, notAllowed)
		},
	} {
		refuse()
		r.ExpectError(
			[]string{"GitHub refused", "delivery = ", "Attribute: delivery." + name},
			"apply",
			"-no-color",
			"-auto-approve",
		)
	}
	r.delivery("labels", []string{"platform"})
	r.Apply()
	if last := r.expectPulls("open"); len(last.Labels) != 1 {
		t.Errorf("the pull request: %+v", last)
	}
}

// notAllowed is GitHub's answer to auto-merge in a repo that does not allow it.
var notAllowed = hostfake.Failure{
	Status: 200,
	Body:   `{"errors":[{"type":"UNPROCESSABLE","message":"Pull request Auto merge is not allowed for this repository"}]}`,
}
