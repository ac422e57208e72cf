package configure_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/configure"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// references returns the references of a secret by key, each as "store key property".
type references map[string]string

func secretOf(name string, labels map[string]string, data references) *fleet.Secret {
	s := &fleet.Secret{Meta: fleet.Meta{Name: name, Labels: labels}, Data: map[string]fleet.SecretReference{}}
	for k, text := range data {
		parts := append(strings.Split(text, " "), "")
		s.Data[k] = fleet.SecretReference{Store: parts[0], Key: parts[1], Property: parts[2]}
	}
	return s
}

// configured configures one target on the cluster type "large" in the region "west".
func configured(t *testing.T, f *fleet.Fleet) (configure.AssignmentConfig, problem.Problems) {
	t.Helper()
	f.Environment = "dev"
	f.Policies = []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}}
	f.ClusterTypes = []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large", Labels: map[string]string{"region": "west"}}}}
	f.Workloads = []*fleet.Workload{{Meta: fleet.Meta{Name: "app"},
		Targets: []fleet.Target{{Name: "web", Environment: "dev"}}}}
	s, problems := schedule.New(t.Context(), f, placement.PriorResults{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c, problems := configure.New(t.Context(), f, s)
	return c.Of(0, 0), problems
}

// TestMergeReferences: references merge by the rules of configs. Secrets apply in the order of their names. If two have
// a key, each field of the later reference replaces the earlier one, and fields that it lacks are kept.
func TestMergeReferences(t *testing.T) {
	t.Parallel()
	west, east := map[string]string{"region": "west"}, map[string]string{"region": "east"}
	for name, tt := range map[string]struct {
		secrets []*fleet.Secret
		want    references
	}{
		"no secrets": {nil, references{}},
		"one secret": {[]*fleet.Secret{secretOf("a", nil, references{"K": "s k p"})}, references{"K": "s k p"}},
		"the keys of both secrets": {[]*fleet.Secret{secretOf("a", nil, references{"K": "s k"}),
			secretOf("b", west, references{"L": "t l"})},
			references{"K": "s k", "L": "t l"}},
		"one key in two secrets, given in the reverse order of their names": {[]*fleet.Secret{secretOf("b", nil,
			references{"K": "s b"}),
			secretOf("a", west, references{"K": "s a"})},
			references{"K": "s b"}},
		"one key in two secrets with different stores": {[]*fleet.Secret{secretOf("a", nil, references{"K": "s k"}),
			secretOf("b", west, references{"K": "t k"})},
			references{"K": "t k"}},
		"property only in the first secret": {[]*fleet.Secret{secretOf("a", nil, references{"K": "s k p"}),
			secretOf("b", west, references{"K": "s l"})},
			references{"K": "s l p"}},
		"property in both secrets": {[]*fleet.Secret{secretOf("a", nil, references{"K": "s k p"}),
			secretOf("b", west, references{"K": "t l q"})},
			references{"K": "t l q"}},
		"labels that do not match": {[]*fleet.Secret{secretOf("a", nil, references{"K": "s k"}),
			secretOf("b", east, references{"K": "t k"})},
			references{"K": "s k"}},
		"the references of all three secrets": {[]*fleet.Secret{
			secretOf("a", map[string]string{"cluster-type": "large"}, references{"A": "s k"}),
			secretOf("b", map[string]string{"deployment-target": "app-web", "workload": "app"}, references{"B": "s k"}),
			secretOf("c", map[string]string{"workload": "other"}, references{"C": "s k"}),
		}, references{"A": "s k", "B": "s k"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // in both orders
				c, problems := configured(t, &fleet.Fleet{Secrets: slices.Clone(tt.secrets)})
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				got := references{}
				merged := c.Secrets.Merge()
				for k, v := range merged.Data {
					r, _ := v.(map[string]any)
					text, _ := r["store"].(string)
					for _, field := range []string{"key", "property"} {
						if part, ok := r[field].(string); ok {
							text += " " + part
						}
					}
					got[k] = text
				}
				if diff := cmp.Diff(tt.want, got); diff != "" || merged.Certain != (len(tt.want) > 0) {
					t.Errorf("certain: %t (-want +got):\n%s", merged.Certain, diff)
				}
				slices.Reverse(tt.secrets)
			}
		})
	}
}

// TestReferenceConflicts: it is an error at the reference if a config has the same key, or if merging would mix two
// stores.
func TestReferenceConflicts(t *testing.T) {
	t.Parallel()
	config := func(name string, labels map[string]string, data map[string]string) *fleet.Config {
		labels[fleet.PlatformConfigLabel] = "true"
		return &fleet.Config{Meta: fleet.Meta{Name: name, Labels: labels,
			Origin: problem.Origin{Attribute: "configs", Key: name}}, Data: data}
	}
	on := "\n\nAffected assignments (1), as cluster type / deployment target:\n  large / app-web"
	for name, tt := range map[string]struct {
		fleet fleet.Fleet
		want  []string
	}{
		"a config with the same key": {fleet.Fleet{
			Secrets: []*fleet.Secret{secretOf("s", nil, references{"K": "s k", "L": "s l"})},
			Configs: []*fleet.Config{config("c", map[string]string{}, map[string]string{"K": "v", "M": "v"})},
		}, []string{`PlatformSecret "s": Key set by a secret and a config: The key "K" is a secret here and a value in the ` +
			`config "c" from configs["c"]. Remove one of them, or rename it.` + on}},
		"a config with the same key for another region": {fleet.Fleet{
			Secrets: []*fleet.Secret{secretOf("s", nil, references{"K": "s k"})},
			Configs: []*fleet.Config{config("c", map[string]string{"region": "east"}, map[string]string{"K": "v"})},
		}, nil},
		"an azure-app-config with the same key": {fleet.Fleet{
			Secrets: []*fleet.Secret{secretOf("s", nil, references{"K": "s k"})},
			Configs: []*fleet.Config{{Meta: fleet.Meta{Name: "azure-app-config"},
				Data: map[string]string{"region.west.K": "v"}}},
		}, []string{`PlatformSecret "s": Key set by a secret and a config: The key "K" is a secret here and a value in the ` +
			`config "azure-app-config". Remove one of them, or rename it.` + on}},
		"two stores": {fleet.Fleet{Secrets: []*fleet.Secret{
			secretOf("a", nil, references{"K": "vault k p"}), secretOf("b", nil, references{"K": "azure l"}),
		}}, []string{`PlatformSecret "b": Secret references two stores: The reference "K" names the store "azure" and no ` +
			`property, and would merge with a property of the store "vault" from PlatformSecret "a". Set a property here too, ` +
			`or let the two objects apply to different assignments.` + on}},
		"a config that may not apply": {fleet.Fleet{
			Secrets: []*fleet.Secret{secretOf("s", nil, references{"K": "s k"})},
			Configs: []*fleet.Config{config("c", map[string]string{"region": unknown.Text}, map[string]string{"K": "v"})},
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := configured(t, &tt.fleet)
			var got []string
			for _, p := range problems {
				got = append(got, p.Error())
				if p.Severity != problem.Error || len(p.Path) < 2 || p.Path[1] != problem.Key("K") {
					t.Errorf("severity %d, path %v", p.Severity, p.Path)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
