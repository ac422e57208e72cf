package configuration

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// TestGitHubTokenOfTheEnvironment: GITHUB_TOKEN is used if no token is set, but never for another host than GitHub's
// own.
func TestGitHubTokenOfTheEnvironment(t *testing.T) {
	t.Setenv(githubTokenVariable, "of the environment")
	for name, test := range map[string]struct{ token, baseURL, want string }{
		"no argument is set":                 {want: "of the environment"},
		"the token is set":                   {token: "given", want: "given"},
		"another host is set":                {baseURL: "https://github.acme.io/", want: ""},
		"the token and another host are set": {token: "given", baseURL: "https://github.acme.io/", want: "given"},
	} {
		t.Run(name, func(t *testing.T) {
			text := func(s string) attr.Value {
				if s == "" {
					return types.StringNull()
				}
				return types.StringValue(s)
			}
			var ps problem.Problems
			github := types.ObjectValueMust(map[string]attr.Type{"token": types.StringType, "base_url": types.StringType},
				map[string]attr.Value{"token": text(test.token), "base_url": text(test.baseURL)})
			got := readGitHub(tfvalue.Decoder{Arguments: map[string]attr.Value{"github": github}, Problems: &ps})
			if got.token != test.want || len(ps) > 0 {
				t.Errorf("the token is %q (%v), want %q", got.token, ps, test.want)
			}
		})
	}
}
