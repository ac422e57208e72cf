package provider_test

import (
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// Every timeout of every resource and data source is refused, with its path, unless it is a duration greater than 0.
func TestTimeoutsGreaterThanZero(t *testing.T) {
	ctx, server := t.Context(), provider.NewServer("test")
	schemas := protocol.ReadSchemas(t, server)
	encoded := func(of tftypes.Type, operation, value string) *tfprotov6.DynamicValue {
		config := protocol.Value(of, map[string]any{"timeouts": map[string]any{operation: value}})
		v, err := tfprotov6.NewDynamicValue(of, config)
		if err != nil {
			t.Fatal(err)
		}
		return &v
	}
	validators := map[string]func(string, *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic{}
	types := map[string]tftypes.Type{}
	for name, s := range schemas.ResourceSchemas {
		types["resource "+name] = s.ValueType()
		validators["resource "+name] = func(_ string, config *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
			resp, err := server.ValidateResourceConfig(ctx,
				&tfprotov6.ValidateResourceConfigRequest{TypeName: name, Config: config})
			if err != nil {
				t.Fatal(err)
			}
			return resp.Diagnostics
		}
	}
	for name, s := range schemas.DataSourceSchemas {
		types["data "+name] = s.ValueType()
		validators["data "+name] = func(_ string, config *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
			resp, err := server.ValidateDataResourceConfig(ctx,
				&tfprotov6.ValidateDataResourceConfigRequest{TypeName: name, Config: config})
			if err != nil {
				t.Fatal(err)
			}
			return resp.Diagnostics
		}
	}
	tried := 0
	for name, of := range types {
		object, _ := of.(tftypes.Object)
		timeouts, ok := object.AttributeTypes["timeouts"].(tftypes.Object)
		if !ok {
			continue
		}
		for operation := range timeouts.AttributeTypes {
			for value, valid := range map[string]bool{
				"0s": false, "0": false, "-0h": false, "-5m": false, "-1ns": false, "5": false, "soon": false, "": false,
				"10000000h": false, "1ns": true, "90s": true, "1h30m": true,
			} {
				var refused []string
				for _, d := range validators[name](name, encoded(of, operation, value)) {
					if at := d.Attribute.String(); strings.Contains(at, "timeouts") {
						refused = append(refused, at+": "+d.Summary)
					}
				}
				tried++
				want := `AttributeName("timeouts").AttributeName("` + operation + `"): Invalid duration`
				if valid && len(refused) > 0 || !valid && (len(refused) != 1 || refused[0] != want) {
					t.Errorf("%s, %s = %q: %q", name, operation, value, refused)
				}
			}
		}
	}
	if tried < 200 {
		t.Errorf("only %d timeouts were tried", tried)
	}
}

// A refresh and a destroy of a rendering whose repo is gone say how to remove it from the state.
func TestRepoGone(t *testing.T) {
	repo := gitserver.InitBare(t)
	arguments := map[string]any{
		"environment": "dev", "create_branch": true, "deletion_protection": false,
		"guardrails":  map[string]any{"allow_empty": true},
		"gitops_repo": map[string]any{"repo": "file://" + repo, "branch": "dev"},
	}
	r := acc.NewRenderingRun(t)
	r.Run(arguments, arguments)
	if err := os.RemoveAll(repo); err != nil {
		t.Fatal(err)
	}
	ds := r.Start().Refresh(t.Context(), &r.Resource)
	acc.ExpectTexts(t, ds.String(), "Repo not found", "terraform state rm")
	destroyed, ds := r.Start().Plan(t.Context(), &r.Resource, nil)
	if destroyed == nil {
		t.Fatalf("plan of a destroy: %s", ds)
	}
	_, ds = r.Start().Apply(t.Context(), destroyed, nil)
	acc.ExpectTexts(t, ds.String(), "Repo not found", "terraform state rm")
}

// A refresh and a destroy take their timeouts from the state. A state of an earlier version with a timeout that leaves
// no time doesn't fail them. If a timeout is too short, the errors say how to save another one.
func TestTimeoutsInState(t *testing.T) {
	repo := gitserver.InitBare(t)
	arguments := func(read string) map[string]any {
		return map[string]any{
			"environment": "dev", "create_branch": true, "deletion_protection": false,
			"guardrails":  map[string]any{"allow_empty": true},
			"timeouts":    map[string]any{"read": read, "delete": read},
			"gitops_repo": map[string]any{"repo": "file://" + repo, "branch": "dev"},
		}
	}
	r := acc.NewRenderingRun(t)
	r.Run(arguments("10m"), arguments("10m"))
	store := func(limit string) {
		t.Helper()
		state, err := tftypes.Transform(r.Resource.State, func(
			at *tftypes.AttributePath, v tftypes.Value,
		) (tftypes.Value, error) {
			switch at.String() {
			case `AttributeName("timeouts").AttributeName("read")`, `AttributeName("timeouts").AttributeName("delete")`:
				return tftypes.NewValue(tftypes.String, limit), nil
			}
			return v, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r.Resource.State = state
	}
	for _, stored := range []string{"0s", "-5m"} {
		store(stored)
		r.Run(arguments("10m"), arguments("10m"))
		if plan, _ := r.Run(arguments("10m"), arguments("10m")); plan["timeouts.read"] != `"10m"` {
			t.Errorf("%s: the plan is %v", stored, plan)
		}
	}

	store("1ns")
	ds := r.Start().Refresh(t.Context(), &r.Resource)
	acc.ExpectTexts(t, ds.String(), "Timeout exceeded", "timeouts.read", "-refresh=false")
	made, ds := r.Start().Plan(t.Context(), &r.Resource, arguments("10m"))
	if made == nil {
		t.Fatalf("plan without refresh: %s", ds)
	}
	destroyed, ds := r.Start().Plan(t.Context(), &r.Resource, nil)
	if destroyed == nil {
		t.Fatalf("plan of a destroy: %s", ds)
	}
	_, ds = r.Start().Apply(t.Context(), destroyed, nil)
	acc.ExpectTexts(t, ds.String(), "Timeout exceeded", "timeouts.delete", "-refresh=false")

	after, ds := r.Start().Apply(t.Context(), made, arguments("10m")) // apply -refresh=false
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	r.Resource = *after
	r.Run(arguments("10m"), arguments("10m"))
	store("-1s")
	r.Destroy()
}
