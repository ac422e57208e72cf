package configuration

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// TestReadEntra: the provider knows whether it signs in with Entra only if the argument is known, and the credential
// too if the argument is true.
func TestReadEntra(t *testing.T) {
	block := map[string]attr.Type{"entra": types.BoolType}
	given := func(entra types.Bool) types.Object {
		return types.ObjectValueMust(block, map[string]attr.Value{"entra": entra})
	}
	for name, test := range map[string]struct {
		block        types.Object
		later        bool // the credential is not known yet
		entra, known bool
	}{
		"absent":             {types.ObjectNull(block), true, false, true},
		"null":               {given(types.BoolNull()), true, false, true},
		"false":              {given(types.BoolValue(false)), true, false, true},
		"true":               {given(types.BoolValue(true)), false, true, true},
		"unknown credential": {given(types.BoolValue(true)), true, true, false},
		"unknown":            {given(types.BoolUnknown()), false, false, false},
		"unknown block":      {types.ObjectUnknown(block), false, false, false},
	} {
		var ps problem.Problems
		d := tfvalue.NewDecoder(
			types.ObjectValueMust(map[string]attr.Type{"azure_devops": types.ObjectType{AttrTypes: block}},
				map[string]attr.Value{"azure_devops": test.block}),
			&ps,
		)
		entra, known := readEntra(d, azureSettings{Unknown: test.later})
		if entra != test.entra || known != test.known || len(ps) > 0 {
			t.Errorf("%s: entra is %t, known is %t, %v", name, entra, known, ps)
		}
	}
}

// TestEntraServes: the token of Entra is sent only to Azure's own servers, over HTTPS.
func TestEntraServes(t *testing.T) {
	for repo, want := range map[string]bool{
		"https://dev.azure.com/acme/p/_git/r":         true,
		"https://acme.visualstudio.com/p/_git/r":      true,
		"https://DEV.azure.com:443/acme":              true,
		"http://dev.azure.com/acme/p/_git/r":          false,
		"https://dev.azure.com:8443/acme/p/_git/r":    false,
		"https://dev.azure.com.evil.io/acme/p/_git/r": false,
		"https://xvisualstudio.com/acme/p/_git/r":     false,
		"https://a.acme.visualstudio.com/p/_git/r":    false,
		"git@ssh.dev.azure.com:v3/acme/p/r":           false,
		"https://github.com/acme/gitops":              false,
		"https://tfs.acme.io/tfs/Main/p/_git/r":       false,
	} {
		if got := (&entraLogins{}).serves(repo); got != want {
			t.Errorf("%s: got %t", repo, got)
		}
		if (*entraLogins)(nil).serves(repo) {
			t.Errorf("%s gets a token without entra", repo)
		}
	}
}

// TestAzureDevOpsEnvironment: the environment's token is sent only to Azure DevOps Services, and only to one
// organisation if a variable names it.
func TestAzureDevOpsEnvironment(t *testing.T) {
	t.Parallel()
	type variables map[string]string
	for _, tt := range []struct {
		variables           variables
		token, organization string
	}{
		{variables{}, "", ""},
		{variables{"AZDO_PERSONAL_ACCESS_TOKEN": "a", "SYSTEM_ACCESSTOKEN": "b"}, "a", ""},
		{variables{"SYSTEM_ACCESSTOKEN": "b", "SYSTEM_COLLECTIONURI": "https://dev.azure.com/acme/"}, "b", "acme"},
		{variables{"SYSTEM_ACCESSTOKEN": "b", "SYSTEM_COLLECTIONURI": "https://acme.visualstudio.com/"}, "b", "acme"},
		{variables{"SYSTEM_ACCESSTOKEN": "b", "SYSTEM_COLLECTIONURI": "https://acme.visualstudio.com/",
			"AZDO_ORG_SERVICE_URL": "https://dev.azure.com/Acme"}, "b", "Acme acme"},
		{variables{"SYSTEM_ACCESSTOKEN": "b", "SYSTEM_COLLECTIONURI": "https://dev.azure.com/acme",
			"AZDO_ORG_SERVICE_URL": "https://dev.azure.com/other"}, "", ""},
		{variables{"SYSTEM_ACCESSTOKEN": "b", "SYSTEM_COLLECTIONURI": "https://tfs.acme.io/tfs/Main/"}, "", ""},
		{variables{"SYSTEM_ACCESSTOKEN": "b", "SYSTEM_COLLECTIONURI": "http://dev.azure.com/acme/"}, "", ""},
		{variables{"AZDO_PERSONAL_ACCESS_TOKEN": "a", "AZDO_ORG_SERVICE_URL": "https://dev.azure.com.evil.io/acme"}, "", ""},
		{variables{"AZDO_PERSONAL_ACCESS_TOKEN": "a", "AZDO_ORG_SERVICE_URL": "://"}, "", ""},
	} {
		token, organizations := azureDevOpsEnvironment(func(name string) string { return tt.variables[name] })
		if got := strings.Join(organizations, " "); token != tt.token || got != tt.organization {
			t.Errorf("%v: the token is %q, for %q", tt.variables, token, got)
		}
	}
}

// TestAzureDevOpsOtherOrganization: if the token is for one organisation and the repo is in another, the plan fails
// with an error that names both organisations.
func TestAzureDevOpsOtherOrganization(t *testing.T) {
	for name, value := range map[string]string{
		"AZDO_PERSONAL_ACCESS_TOKEN": "canary", "AZDO_ORG_SERVICE_URL": "https://dev.azure.com/acme",
		"SYSTEM_COLLECTIONURI": "https://dev.azure.com/Acme",
	} {
		t.Setenv(name, value)
	}
	host := readAzureDevOps(tfvalue.Decoder{Problems: new(problem.Problems)}, nil)
	var err error
	host.anonymous, err = host.open(true, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &Data{hosts: []hostSettings{host}}
	for repo, want := range map[string]string{
		"https://dev.azure.com/ACME/shop/_git/gitops": "", "git@ssh.dev.azure.com:v3/acme/shop/gitops": "",
		"https://other.visualstudio.com/shop/_git/gitops": "the token of the environment is for the organisation acme " +
			"alone, and the repo is in other. Set token or entra in azure_devops",
	} {
		var diags diag.Diagnostics
		d.CheckCredential(repo, &diags)
		if got := diags.HasError(); got != (want != "") || d.HasCredential(repo) == got {
			t.Errorf("%s: %v", repo, diags)
		}
		for _, one := range diags {
			if at, ok := one.(diag.DiagnosticWithPath); !ok || !at.Path().Equal(path.Root("delivery")) ||
				!strings.Contains(one.Detail(), want) || strings.Contains(one.Detail(), "canary") {
				t.Errorf("%s: %v", repo, one)
			}
		}
	}
}
