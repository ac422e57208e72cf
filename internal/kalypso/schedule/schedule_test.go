package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// TestNamespace compares our rule for namespaces with Kubernetes' rule.
func TestNamespace(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const letters, others = "abcmz0129--", ".A_ \n\x00\xc3~/:`{@["
	name := func() string {
		var b strings.Builder
		for range r.IntN(26) {
			if r.IntN(80) == 0 {
				b.WriteByte(others[r.IntN(len(others))])
			} else {
				b.WriteByte(letters[r.IntN(len(letters))])
			}
		}
		return b.String()
	}
	valid := 0
	for range 20_000 {
		parts := []string{name(), name(), name()}
		namespace, err := schedule.Namespace(parts[0], parts[1], parts[2])
		msgs := validation.IsDNS1123Label(strings.Join(parts, "-"))
		if (err == nil) != (len(msgs) == 0) || err == nil && namespace != strings.Join(parts, "-") {
			t.Fatalf("%q: %v, and Kubernetes says %v", parts, err, msgs)
		}
		if err == nil {
			valid++
		}
	}
	if valid < 4000 || valid > 16_000 {
		t.Errorf("%d of 20000 namespaces are valid: the random names do not cover both cases", valid)
	}
}

// TestInvalidNamespaces checks whose fault an invalid namespace is. It is the platform's only if the names of the
// environment and the cluster type allow no target, and the name of the target is a label. Else only the team's targets
// are affected, on the cluster types where their namespaces are invalid.
func TestInvalidNamespaces(t *testing.T) {
	const full = validation.DNS1123LabelMaxLength
	room := func(n int) string { return strings.Repeat("c", full-len("dev-")-len("-")-n) } // a cluster type's name
	for name, c := range map[string]struct {
		clusterTypes, targets []string // the targets of the Workload w
		want                  []string // the object at fault, its path, and the targets that it affects
	}{
		"valid": {[]string{"a", room(3)}, []string{"t"}, nil},
		"a target with a dot": {[]string{"a", "b"}, []string{"t", "t.x"}, []string{
			`Workload "w" [deployment_targets 1 name] [{a w-t.x} {b w-t.x}]`,
		}},
		"a target that is too long on one cluster type": {[]string{"a", room(3)}, []string{"t", "tt"}, []string{
			`Workload "w" [deployment_targets 1 name] [{` + room(3) + ` w-tt}]`,
		}},
		"a cluster type that leaves no room": {[]string{"a", room(2)}, []string{"t"}, []string{
			`ClusterType "` + room(2) + `" [] []`,
		}},
		"a cluster type with a dot": {[]string{"a", "b.c"}, []string{"t"}, []string{`ClusterType "b.c" [] []`}},
		"a cluster type and a target with a dot": {[]string{"a", "b.c"}, []string{"t.x"}, []string{
			`Workload "w" [deployment_targets 0 name] [{a w-t.x} {b.c w-t.x}]`,
		}},
		"a cluster type and a target that are too long": {[]string{room(2)}, []string{strings.Repeat("t", full)}, []string{
			`Workload "w" [deployment_targets 0 name] [{` + room(2) + ` w-` + strings.Repeat("t", full) + `}]`,
		}},
		"two targets": {[]string{"a"}, []string{"t.x", "t.y"}, []string{
			`Workload "w" [deployment_targets 0 name] [{a w-t.x}]`, `Workload "w" [deployment_targets 1 name] [{a w-t.y}]`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &fleet.Workload{Meta: fleet.Meta{Name: "w"}}
			for _, target := range c.targets {
				w.Targets = append(w.Targets, fleet.Target{Name: target, Environment: "dev"})
			}
			f := &fleet.Fleet{Environment: "dev", Workloads: []*fleet.Workload{w},
				Policies: []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}}}
			for _, ct := range c.clusterTypes {
				f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{Meta: fleet.Meta{Name: ct}})
			}
			_, problems := schedule.New(t.Context(), f, placement.PriorResults{})
			var got []string
			for _, p := range problems {
				if (p.Fault == problem.TeamFault) != (p.Kind == string(fleet.KindWorkload)) {
					t.Errorf("fault %d of %s", p.Fault, p.Subject())
				}
				got = append(got, fmt.Sprint(p.Subject(), " ", p.Path, " ", p.Affects))
				if p.Summary != "Invalid namespace" {
					t.Error(p)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}
