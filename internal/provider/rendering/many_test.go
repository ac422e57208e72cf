package rendering_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// A provider renders each of eight fleets once, although Terraform plans all of them before it applies the first.
func TestManyRenderings(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	var logs bytes.Buffer
	ctx := tflogtest.RootLogger(t.Context(), &logs)
	p := acc.NewRenderingRun(t)
	s := p.Start()
	const many = 8
	plans := make([]*protocol.Plan, many)
	for i := range plans {
		given := fleetArguments(repo, "one")
		part(t, given, "gitops_repo")["path"] = fmt.Sprintf("rendering-%d", i)
		made, ds := s.Plan(ctx, &p.Resource, given)
		if made == nil {
			t.Fatalf("plan %d: %s", i, ds)
		}
		plans[i] = made
	}
	for i, made := range plans {
		after, ds := s.Apply(ctx, made, nil) // Terraform has planned it in this process
		if ds.HasErrors() {
			t.Fatalf("apply %d: %s", i, ds)
		}
		if privateKeys(t, after.Private)[nothingToDoKey] == nil {
			t.Errorf("apply %d did not store that there is nothing to do", i)
		}
	}
	if n := strings.Count(logs.String(), "rendering the fleet"); n != many {
		t.Errorf("%d fleets were rendered %d times", many, n)
	}
	if n := len(gitserver.Log(t, repo, "dev")); n != many {
		t.Errorf("%d commits, want %d", n, many)
	}
}
