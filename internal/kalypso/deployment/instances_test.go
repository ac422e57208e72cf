package deployment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// nested returns the report of an object in the folder of a target. "Kustomization apps/web" belongs to the target web.
func nested(cluster, name, applied string, edits ...edit) deployment.Report {
	r := with(at(cluster, "c2"), edits...)
	r.Nested, r.Object, r.Revision = true, "Kustomization apps/"+name, applied
	return r
}

func targets(all ...deployment.TargetReport) edit {
	return func(r *deployment.Report) { r.Targets = all }
}

// TestInstances: Instances is called once for each target of each counted cluster. A line has the cluster, the target,
// its state, for how long, the commit, what was applied, and the message.
func TestInstances(t *testing.T) {
	t.Parallel()
	slow := rules()
	slow.Deadline = 24 * time.Hour
	one := rules()
	one.Expected = map[string]deployment.Expectation{"drone": {Clusters: []string{"a", "b"}}}
	for name, test := range map[string]struct {
		rules   deployment.Rules
		reports []deployment.Report
		want    []string
	}{
		"report without targets": {rules(), []deployment.Report{at("a", "c2")}, []string{
			`a "" current 1m0s c2`, `a "shop" current 1m0s c2`, `a "web" current 1m0s c2`,
		}},
		"report of an object in the folder": {rules(), []deployment.Report{
			at("a", "c2"), nested("a", "web", "main@sha1:x", since(5*60e9)), nested("a", "other", "main@sha1:y"),
		}, []string{
			`a "" current 1m0s c2`, `a "shop" current 1m0s c2`, `a "web" current 5m0s c2 Kustomization apps/web=main@sha1:x`,
		}},
		"two objects of a target, one failed": {rules(), []deployment.Report{
			at("a", "c2"), nested("a", "web", "x", since(5*60e9)),
			nested("a", "web-2", "y", health(deployment.Failed), since(2*3600e9), message("boom")),
		}, []string{
			`a "" failed 2h0m0s c2 Kustomization apps/web-2: unhealthy for longer than 1h: boom`,
			`a "shop" failed 2h0m0s c2 Kustomization apps/web-2: unhealthy for longer than 1h: boom`,
			`a "web" failed 2h0m0s c2 Kustomization apps/web=x Kustomization apps/web-2=y unhealthy for longer than 1h: boom`,
		}},
		"an object that begins to progress": {rules(), []deployment.Report{
			at("a", "c2"), nested("a", "web", "x", health(deployment.Progressing), since(60e9)),
		}, []string{
			`a "" progressing 1m0s c2 Kustomization apps/web: not ready`,
			`a "shop" progressing 1m0s c2 Kustomization apps/web: not ready`,
			`a "web" progressing 1m0s c2 Kustomization apps/web=x not ready`,
		}},
		"report with targets": {rules(), []deployment.Report{with(at("a", "c2"), reportedAgo(10*60e9), targets(
			deployment.TargetReport{Name: "web", Revision: "x", Version: "1.2", Health: deployment.Healthy},
			deployment.TargetReport{Name: "gone", Version: "1", Health: deployment.Suspended, Message: "off"},
			deployment.TargetReport{Name: "shop", Version: "2"},
		))}, []string{
			`a "" current 10m0s c2`, `a "gone" suspended 10m0s c2 ==1 off`, `a "shop" current 10m0s c2 ==2`,
			`a "web" current 10m0s c2 =x=1.2`,
		}},
		"a failed target before the deadline": {slow, []deployment.Report{with(at("a", "c2"), targets(
			deployment.TargetReport{Name: "web", Revision: "x", Health: deployment.Failed, Message: "crash"},
		))}, []string{
			`a "" current 1m0s c2`, `a "shop" current 1m0s c2`, `a "web" failed 1m0s c2 =x unhealthy: crash`,
		}},
		"a failed object before the deadline": {slow, []deployment.Report{
			at("a", "c2"), nested("a", "web", "x", health(deployment.Failed), message("boom")),
		}, []string{
			`a "" failed 1m0s c2 Kustomization apps/web: unhealthy: boom`,
			`a "shop" failed 1m0s c2 Kustomization apps/web: unhealthy: boom`,
			`a "web" failed 1m0s c2 Kustomization apps/web=x unhealthy: boom`,
		}},
		"a failed target past the deadline": {rules(), []deployment.Report{with(at("a", "c2"), targets(
			deployment.TargetReport{Name: "web", Revision: "x", Health: deployment.Failed, Message: "crash"},
		))}, []string{
			`a "" current 1m0s c2`, `a "shop" current 1m0s c2`,
			`a "web" failed 1m0s c2 =x unhealthy for longer than 1h: crash`,
		}},
		"stale report": {rules(), []deployment.Report{with(at("a", "c2"), reportedAgo(3*3600e9), targets(
			deployment.TargetReport{Name: "web", Revision: "x", Health: deployment.Healthy},
		))}, []string{
			`a "" stale 3h0m0s c2 the report is 3h old`, `a "shop" stale 3h0m0s c2 the report is 3h old`,
			`a "web" stale 3h0m0s c2 =x the report is 3h old`,
		}},
		"missing, offline and unexpected cluster": {one, []deployment.Report{
			{Cluster: "b", Health: deployment.Offline, Message: "no answer"}, at("c", "c2"),
		}, []string{
			`a "" missing none  it is expected to follow the folder, but no source reports that it does`,
			`a "shop" missing none  it is expected to follow the folder, but no source reports that it does`,
			`a "web" missing none  it is expected to follow the folder, but no source reports that it does`,
			`b "" offline none  no answer`, `b "shop" offline none  no answer`, `b "web" offline none  no answer`,
		}},
		"offline in one source, current in another": {rules(), []deployment.Report{
			at("a", "c2"), nested("a", "web", "x"), {Cluster: "a", Health: deployment.Offline, Message: "no answer"},
		}, []string{
			`a "" offline 1m0s c2 no answer`, `a "shop" offline 1m0s c2 no answer`,
			`a "web" offline 1m0s c2 Kustomization apps/web=x no answer`,
		}},
		"offline cluster and folder that the branch does not have": {rules(), []deployment.Report{
			{Cluster: "b", Health: deployment.Offline}, with(at("a", "c2"), folder("not-at-head")),
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := line("B", "A")
			b.Folders["drone"] = deployment.ExpectedFolder{Tree: "B", Targets: []string{"shop", "web"}}
			var got []string
			in := deployment.Input{Branch: b, Rules: test.rules, Reports: test.reports}
			plain, err := deployment.Evaluate(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			in.Branch = b
			in.TargetOf = func(folder, object string) string {
				if folder != "drone" || !strings.HasPrefix(object, "Kustomization apps/web") {
					return ""
				}
				return "web"
			}
			in.Instances = func(i deployment.Instance) {
				age := "none"
				if !i.Since.IsZero() {
					age = now.Sub(i.Since).String()
				}
				revision := deployment.ParseRevision(i.Revision).Hash
				text := fmt.Sprintf("%s %q %s %s %s", i.Cluster, i.Target, i.State, age,
					map[string]string{hash("c2"): "c2", hash("c1"): "c1"}[revision])
				applied := slices.Clone(i.Applied)
				slices.SortFunc(applied, func(a, b deployment.Applied) int { return strings.Compare(a.Object, b.Object) })
				for _, a := range applied {
					text += " " + a.Object + "=" + a.Revision
					if a.Version != "" {
						text += "=" + a.Version
					}
				}
				if i.Message != "" {
					text += " " + i.Message
				}
				got = append(got, text)
			}
			full, err := deployment.Evaluate(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("instances (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(plain, full); diff != "" {
				t.Errorf("the outcome differs if Instances is set (-without +with):\n%s", diff)
			}
		})
	}
}
