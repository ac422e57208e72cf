package provider_test

import (
	"context"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

var oddTexts = []string{
	"", " ", "-1", "a", "a", "dev", "dev", "none", "\x00", "\u202e", "{{", "{{ .X.Y }}", "null", "a: b: c", "5", "10%",
	"-1h",
	"kind: ClusterType\nmetadata: {name: a}", "kind: SchedulingPolicy\nmetadata: {name: a, annotations: " +
		"{kalypso.io/placement: '{numberOfClusterTypes: -1}'}}", "999999999999h", strings.Repeat("a", 300), "..", "/", "warn",
}

// extremeValue returns a value of a type with extreme parts: nulls, unknown values, texts and numbers out of range.
func extremeValue(r *rand.Rand, of tftypes.Type) tftypes.Value {
	switch r.IntN(12) {
	case 0, 1, 2:
		return tftypes.NewValue(of, nil)
	case 3:
		return tftypes.NewValue(of, tftypes.UnknownValue)
	}
	text := func() string { return oddTexts[r.IntN(len(oddTexts))] }
	switch of := of.(type) {
	case tftypes.Object:
		parts := map[string]tftypes.Value{}
		for name, part := range of.AttributeTypes {
			parts[name] = extremeValue(r, part)
		}
		return tftypes.NewValue(of, parts)
	case tftypes.Map:
		parts := map[string]tftypes.Value{}
		for range r.IntN(3) {
			parts[text()] = extremeValue(r, of.ElementType)
		}
		return tftypes.NewValue(of, parts)
	case tftypes.List:
		return tftypes.NewValue(of, extremeValues(r, of.ElementType))
	case tftypes.Set:
		return tftypes.NewValue(of, extremeValues(r, of.ElementType))
	}
	switch {
	case of.Is(tftypes.Bool):
		return tftypes.NewValue(of, r.IntN(2) == 0)
	case of.Is(tftypes.Number):
		n := []int64{0, 1, -1, 5, math.MaxInt64, math.MinInt64, math.MinInt64 + 1}[r.IntN(7)]
		return tftypes.NewValue(of, new(big.Float).SetInt64(n))
	case of.Is(tftypes.String):
		return tftypes.NewValue(of, text())
	}
	return tftypes.NewValue(tftypes.String, text()) // a dynamic type
}

func extremeValues(r *rand.Rand, of tftypes.Type) (all []tftypes.Value) {
	for range r.IntN(3) {
		all = append(all, extremeValue(r, of))
	}
	return all
}

// TestNoPanic plans each resource, reads each list and the data sources that need no repo, with extreme values in all
// arguments. Plans fail, but the provider does not panic.
func TestNoPanic(t *testing.T) {
	t.Parallel()
	server := provider.NewServer("test")
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	session, ds := protocol.ReadSchemas(t, server).Start(t, server, nil)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	arguments := func(r *rand.Rand, schema *tfprotov6.Schema) map[string]any {
		config := map[string]any{}
		for _, a := range schema.Block.Attributes {
			if a.Required || a.Optional && r.IntN(3) > 0 {
				config[a.Name] = extremeValue(r, a.ValueType())
			}
		}
		if _, has := config["delivery"]; has {
			config["delivery"] = map[string]any{"strategy": "none"}
		}
		return config
	}
	var planned int
	for seed := range seeds.Of(t, 40, 2000) {
		r := rand.New(rand.NewPCG(seed, 31))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		check := func(name string, ds protocol.Diagnostics) {
			if strings.Contains(ds.String(), "Internal error") {
				t.Errorf("seed %d: %s: %s", seed, name, ds)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(schemas.ResourceSchemas)) {
			p, ds := session.Plan(ctx, &protocol.Resource{Type: name}, arguments(r, schemas.ResourceSchemas[name]))
			check(name, ds)
			if p != nil {
				planned++
			}
		}
		for _, name := range slices.Sorted(maps.Keys(schemas.ListResourceSchemas)) {
			_, ds := session.List(ctx, protocol.ListRequest{
				Type: name, Config: arguments(r, schemas.ListResourceSchemas[name]), Limit: 3, IncludeResource: true,
			})
			check("list "+name, ds)
		}
		name := "kalypso_assignments"
		_, ds := session.ReadData(ctx, name, arguments(r, schemas.DataSourceSchemas[name]))
		check(name, ds)
		cancel()
	}
	if planned == 0 && !seeds.Single() {
		t.Error("all plans failed")
	}
}

// TestInvalidNumbers reports whole numbers that are out of range, at their paths: in HCL and in YAML, in a data source
// and in a resource. The smallest number is out of range too, and not mistaken for an unknown one.
func TestInvalidNumbers(t *testing.T) {
	t.Parallel()
	server := provider.NewServer("test")
	session, ds := protocol.ReadSchemas(t, server).Start(t, server, nil)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	fleet := func(placement map[string]any, annotation string) map[string]any {
		policy := map[string]any{
			"name": "all", "deployment_target_selector": map[string]any{"match_all": true},
			"cluster_type_selector": map[string]any{"match_all": true},
		}
		arguments := map[string]any{
			"environment": "dev",
			"cluster_types": map[string]any{"a": map[string]any{
				"name": "a", "reconciler": "r", "namespace_service": "n",
			}},
			"workloads": map[string]any{"w": map[string]any{
				"name": "w", "deployment_targets": []any{map[string]any{"name": "t", "environment": "dev"}},
			}},
			"templates": map[string]any{
				"r": map[string]any{"name": "r", "type": "reconciler", "manifests": []any{"# a: b"}},
				"n": map[string]any{"name": "n", "type": "namespace", "manifests": []any{"# a: b"}},
			},
		}
		if placement != nil {
			policy["placement"] = placement
			arguments["scheduling_policies"] = map[string]any{"all": policy}
		} else {
			arguments["manifests"] = map[string]any{"p.yaml": "kind: SchedulingPolicy\n" +
				"apiVersion: scheduler.kalypso.io/v1alpha1\nmetadata:\n  name: all\n  annotations:\n    kalypso.io/placement: '" +
				annotation + "'\nspec: {}\n"}
		}
		return arguments
	}
	number := func(n int) map[string]any { return map[string]any{"number_of_cluster_types": n} }
	for _, c := range []struct {
		name      string
		arguments map[string]any
		want      string // the summary and the path, or a part of the text
	}{
		{"-1", fleet(number(-1), ""), "Invalid number of cluster types [AttributeName(\"scheduling_policies\")"},
		{"0", fleet(number(0), ""), "Invalid number of cluster types [AttributeName(\"scheduling_policies\")"},
		{"smallest", fleet(number(math.MinInt64), ""), "-9223372036854775808 is out of range."},
		{"smallest weight", fleet(map[string]any{
			"prefer": []any{map[string]any{"balance": true, "weight": math.MinInt64}},
		}, ""), "-9223372036854775808 is out of range."},
		{"YAML, -1", fleet(nil, "{numberOfClusterTypes: -1}"), "numberOfClusterTypes is -1."},
		{"YAML, smallest", fleet(nil, "{numberOfClusterTypes: -9223372036854775808}"),
			"-9223372036854775808 is out of range"},
		{"YAML, smallest skew", fleet(nil, "{spread: [{key: a, maxSkew: -9223372036854775808}]}"),
			"-9223372036854775808 is out of range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, ds := session.ReadData(t.Context(), "kalypso_assignments", c.arguments)
			if !strings.Contains(ds.String(), c.want) || strings.Contains(ds.String(), "Internal error") {
				t.Errorf("data source: %s", ds)
			}
			arguments := maps.Clone(c.arguments)
			arguments["delivery"] = map[string]any{"strategy": "none"}
			_, ds = session.Plan(t.Context(), &protocol.Resource{Type: "kalypso_environment_rendering"}, arguments)
			if !strings.Contains(ds.String(), c.want) || strings.Contains(ds.String(), "Internal error") {
				t.Errorf("resource: %s", ds)
			}
		})
	}
}
