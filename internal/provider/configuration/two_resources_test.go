package configuration_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
)

// TestClaims: two resources of one configuration that set the same status, or write the same BaseRepo, are an error at
// plan. A replaced resource does not conflict with itself.
func TestClaims(t *testing.T) {
	t.Parallel()
	server := provider.NewServer("test")
	schemas := protocol.ReadSchemas(t, server)
	commit := strings.Repeat("0a1b2c3d", 5)
	status := func(repo, context, description string) map[string]any {
		return map[string]any{"repo": repo, "commit": commit, "context": context, "state": "success",
			"description": description}
	}
	base := func(repo, branch string) map[string]any {
		return map[string]any{"repo": repo, "branch": branch, "promotion": map[string]any{"commit": commit, "summary": "s"}}
	}
	const a, b = "https://github.com/acme/a", "https://github.com/acme/b"
	for name, c := range map[string]struct {
		kind          string
		first, second map[string]any
		want          string
	}{
		"same status": {"kalypso_commit_status", status(a, "dev", "x"), status(a+".git", "DEV", "y"),
			"Conflicting commit statuses"},
		"another context": {"kalypso_commit_status", status(a, "dev", "x"), status(a, "qa", "x"), ""},
		"another repo":    {"kalypso_commit_status", status(a, "dev", "x"), status(b, "dev", "x"), ""},
		"same branch": {"kalypso_base_repo", base(a, "dev"), base(a+"/", "dev"),
			"Conflicting BaseRepos"},
		"another branch": {"kalypso_base_repo", base(a, "dev"), base(a, "qa"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session, ds := schemas.Start(t, provider.NewServer("test"), nil)
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			var all string
			for _, config := range []map[string]any{c.first, c.second} {
				if strings.Contains(all, "Conflicting ") {
					t.Errorf("error of the first resource: %s", all)
				}
				_, ds := session.Plan(t.Context(), &protocol.Resource{Type: c.kind}, config)
				all += ds.String()
			}
			if has := strings.Contains(all, "Conflicting "); has != (c.want != "") || !strings.Contains(all, c.want) {
				t.Errorf("want %q:\n%s", c.want, all)
			}
		})
	}
}
