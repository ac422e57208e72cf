package clusters_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/clusters"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// TestNamesReachNoNamespace: a team can name its clusters with any text, for example in a Secret of Argo CD. Whatever
// the names are, decisions only contain the namespaces of the clusters themselves and the one for the profiles.
func TestNamesReachNoNamespace(t *testing.T) {
	t.Parallel()
	parts := []string{
		"/", "/", "/", "..", ".", "%2f", "%2F", "%", "hub", "argocd", "kube-system", "evil", "a", "\\", " ", "//",
	}
	named, refused := 0, 0
	for seed := range seeds.Of(t, 2000, 50_000) {
		r := rand.New(rand.NewPCG(seed, 80))
		text := func() string {
			var b strings.Builder
			for range 1 + r.IntN(7) {
				b.WriteString(parts[r.IntN(len(parts))])
			}
			return b.String()
		}
		var lists []clusters.List
		for _, source := range []string{"hub/argocd", "clusters", "x"} {
			var l clusters.List
			for i := range r.IntN(4) {
				c := clusters.Cluster{
					Source: source, Namespace: []string{"", "team-a", "team-b", "x/kube-system", text()}[r.IntN(5)],
					Name:   []string{"one", text(), "/" + text(), "x/kube-system/evil"}[r.IntN(4)],
					Labels: map[string]string{"n": fmt.Sprint(i)},
				}
				if err := l.Add("o", c); err != nil {
					t.Fatal(err)
				}
			}
			lists = append(lists, l)
		}
		all, err := clusters.Join(lists, []clusters.Rule{{ClusterType: "large"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all.ClusterTypes["large"] {
			member := all.Clusters[name]
			made, err := clusters.Decisions(map[string][]string{"large": {"web"}}, map[string][]string{"large": {name}},
				clusters.DecisionOptions{Namespace: "fleet"})
			if err != nil {
				refused++
				continue
			}
			named++
			at := decodeDecisions(t, made)[0].Decisions[0].ClusterProfileRef
			if at.Name != member.Name || at.Namespace != "fleet" && at.Namespace != member.Namespace {
				t.Errorf("seed %d: the cluster %q of %q in %q, listed as %q, has the profile %+v", seed, member.Name,
					member.Source, member.Namespace, name, at)
			}
		}
	}
	if named == 0 || refused == 0 {
		t.Errorf("%d names are profiles, %d are not", named, refused)
	}
}
