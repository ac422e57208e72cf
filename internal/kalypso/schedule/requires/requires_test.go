package requires_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// labels are labels of an object.
type labels = map[string]string

// workload returns a workload with the target main. Policies place the target on the cluster type large, on small, or
// on both, as on says.
func workload(name, on string, requires ...fleet.Requirement) *fleet.Workload {
	return &fleet.Workload{
		Meta: fleet.Meta{Name: name, Labels: labels{}},
		Targets: []fleet.Target{{
			Name: "main", Environment: "dev", Labels: labels{"on": on}, Manifests: labels{"path": "x"}, Requires: requires,
		}},
	}
}

// optionedFleet is a fleet with the options of its run.
type optionedFleet struct {
	*fleet.Fleet
	engine.Options
}

func (f *optionedFleet) run(ctx context.Context) (*engine.Output, problem.Problems) {
	return engine.Run(ctx, f.Fleet, f.Options)
}

// newFleet returns a fleet with the cluster types large and small, a policy for each of them, and one for both. The
// rendering of a target fails on the cluster types whose names contain the value fail in its manifests.
func newFleet(workloads ...*fleet.Workload) *optionedFleet {
	f := &fleet.Fleet{Environment: "dev", Workloads: workloads, Templates: []*fleet.Template{
		{Meta: fleet.Meta{Name: "r"}, Type: fleet.TemplateReconciler, Manifests: []string{
			"{{ if contains (default \"-\" .Manifests.fail) .ClusterType }}{{ fail \"broken\" }}{{ end }}" +
				"name: {{ .DeploymentTargetName }}\n" +
				"dependsOn: [{{ range .Requires }}{{ .Namespace }}/{{ .Name }}/{{ .Workload }}" +
				"{{ if .Wave }}@{{ .Wave }}{{ end }} {{ end }}]\n",
		}},
		{Meta: fleet.Meta{Name: "n"}, Type: fleet.TemplateNamespace, Manifests: []string{"name: {{ .Namespace }}\n"}},
	}}
	for _, on := range []string{"large", "small", "both"} {
		p := &fleet.SchedulingPolicy{
			Meta: fleet.Meta{Name: on}, DeploymentTargets: fleet.Selector{MatchLabels: labels{"on": on}},
		}
		if on != "both" {
			p.ClusterTypes.MatchLabels = labels{"size": on}
			f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{
				Meta: fleet.Meta{Name: on, Labels: labels{"size": on}}, Reconciler: "r", NamespaceService: "n",
			})
		}
		f.Policies = append(f.Policies, p)
	}
	return &optionedFleet{f, engine.Options{Requires: problem.Fail}}
}

func of(workload string) fleet.Requirement { return fleet.Requirement{Workload: workload} }

func labelled(key, value string) fleet.Requirement {
	return fleet.Requirement{MatchLabels: labels{key: value}}
}

// onBranch returns a function for the deployment targets that the branch contains, as cluster type/target.
func onBranch(all ...string) func(clusterType, target string) bool {
	return func(clusterType, target string) bool { return slices.Contains(all, clusterType+"/"+target) }
}

// outcome lists the targets in the tree, each with the required targets that its template gets, and the faults, each
// with the targets that it affects.
func outcome(t *testing.T, f *optionedFleet) (lines []string) {
	t.Helper()
	f.LeaveOutFailed = true
	result, problems := f.run(t.Context())
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	for i, folder := range result.Tree.Folders {
		for n, target := range folder.Targets {
			for file := range result.Tree.TargetFiles(i, n) {
				if _, needs, ok := strings.Cut(string(file.Content), "dependsOn: ["); ok {
					needs, _, _ = strings.Cut(needs, " ]")
					needs = strings.TrimSuffix(needs, "]\n")
					lines = append(lines, strings.TrimSpace(folder.ClusterType+"/"+target.Name+" "+needs))
				} else if file.Unknown {
					lines = append(lines, folder.ClusterType+"/"+target.Name+" unknown")
				}
			}
		}
	}
	for _, p := range append(result.LeftOut, result.Requires.Warning(t.Context())...) {
		var targets []string
		for _, a := range p.Affects {
			targets = append(targets, a.ClusterType+"/"+a.Name)
		}
		slices.Sort(targets)
		if p.Summary == "Template rendering failed" {
			lines = append(lines, "fails: "+strings.Join(targets, " "))
			continue
		}
		text := p.Detail
		if list := strings.Split(text, "\n  "); len(list) > 1 {
			last, _, _ := strings.Cut(list[len(list)-1], "\n")
			text = strings.Join(append(list[1:len(list)-1], last), "\n")
		}
		lines = append(lines, strings.Join(targets, " ")+": "+text)
	}
	return lines
}

// TestRequirements checks which required targets a template gets, and which targets are left out if a required target
// is missing.
func TestRequirements(t *testing.T) {
	t.Parallel()
	teams := func(workloads ...*fleet.Workload) []*fleet.Workload { // the last workload belongs to another team
		workloads[len(workloads)-1].Labels[fleet.WorkspaceLabel] = "others"
		return workloads
	}
	withLabels := func(w *fleet.Workload, more labels) *fleet.Workload {
		for k, v := range more {
			w.Targets[0].Labels[k] = v
		}
		return w
	}
	failing := func(w *fleet.Workload, on string) *fleet.Workload {
		w.Targets[0].Manifests["fail"] = on
		return w
	}
	for _, tt := range []struct {
		name      string
		workloads []*fleet.Workload
		change    func(*optionedFleet)
		onBranch  []string
		want      []string
	}{
		{name: "a workload on the same cluster type", workloads: []*fleet.Workload{
			workload("redis", "both"), workload("web", "both", of("redis")),
		}, want: []string{
			"large/redis-main", "large/web-main dev-large-redis-main/redis-main/redis",
			"small/redis-main", "small/web-main dev-small-redis-main/redis-main/redis",
		}},
		{name: "a workload that is on one of the cluster types", workloads: []*fleet.Workload{
			workload("redis", "large"), workload("web", "both", of("redis")),
		}, want: []string{
			"large/redis-main", "large/web-main dev-large-redis-main/redis-main/redis",
			`small/web-main: web-main on small requires workload "redis": redis-main is not there. No scheduling policy ` +
				`places it there; the closest is "large". The cluster type is not selected: label "size" is "small" and must be ` +
				`"large".`,
		}},
		{name: "a workload that moves away from one of the cluster types", workloads: []*fleet.Workload{
			workload("redis", "large"), workload("web", "both", of("redis")),
		}, onBranch: []string{"small/redis-main", "small/web-main"}, want: []string{
			"large/redis-main", "large/web-main dev-large-redis-main/redis-main/redis",
			`small/web-main: web-main on small requires workload "redis": redis-main is not there. No scheduling policy ` +
				`places it there; the closest is "large". The cluster type is not selected: label "size" is "small" and must be ` +
				`"large". This change removes it from there.`,
		}},
		{name: "a workload that does not exist", workloads: []*fleet.Workload{workload("web", "both", of("redis"))},
			want: []string{`large/web-main small/web-main: web-main on large, small requires workload "redis": on large, the ` +
				`workload "redis" does not exist.`}},
		{name: "a workload of another environment", workloads: []*fleet.Workload{
			workload("web", "large", of("redis")), workload("redis", "large"),
		}, change: func(f *optionedFleet) { f.Workloads[1].Targets[0].Environment = "prod" }, want: []string{
			`large/web-main: web-main on large requires workload "redis": the workload has no such deployment target in ` +
				`environment "dev".`}},
		{name: "a deployment target of a workload", workloads: []*fleet.Workload{
			workload("web", "large", fleet.Requirement{Workload: "auth", DeploymentTarget: "eu"}), workload("auth", "large"),
		}, want: []string{"large/auth-main",
			`large/web-main: web-main on large requires workload "auth", deployment target "eu": the workload has no such ` +
				`deployment target in environment "dev".`}},
		{name: "labels of several targets", workloads: []*fleet.Workload{
			withLabels(workload("nginx", "large"), labels{"provides": "ingress"}),
			withLabels(workload("caddy", "both"), labels{"provides": "ingress"}),
			withLabels(workload("web", "both", labelled("provides", "ingress"), of("nginx")), labels{"provides": "web"}),
		}, want: []string{
			"large/caddy-main", "large/nginx-main",
			"large/web-main dev-large-caddy-main/caddy-main/caddy dev-large-nginx-main/nginx-main/nginx",
			"small/caddy-main",
			`small/web-main: web-main on small requires workload "nginx": nginx-main is not there. No scheduling policy ` +
				`places it there; the closest is "large". The cluster type is not selected: label "size" is "small" and must be ` +
				`"large".`,
		}},
		{name: "labels that only the requiring target has", workloads: []*fleet.Workload{
			withLabels(workload("web", "large", labelled("provides", "ingress")), labels{"provides": "ingress"}),
		}, want: []string{`large/web-main: web-main on large requires label "provides" = "ingress": only web-main itself ` +
			`satisfies it in environment "dev".`}},
		{name: "another target of the same workload", workloads: []*fleet.Workload{workload("web", "large", of("web"))},
			change: func(f *optionedFleet) {
				f.Workloads[0].Targets = append(f.Workloads[0].Targets, workload("", "large").Targets[0])
				f.Workloads[0].Targets[1].Name = "more"
			}, want: []string{"large/web-main dev-large-web-more/web-more/web", "large/web-more"}},
		{name: "another team's workload, which is not on the cluster type", workloads: teams(
			workload("web", "small", of("redis")), workload("redis", "large"),
		), want: []string{"large/redis-main",
			`small/web-main: web-main on small requires workload "redis": it is not there.`}},
		{name: "another team's workload, which has no target in the environment", workloads: teams(
			workload("web", "small", of("redis")), workload("redis", "large"),
		), change: func(f *optionedFleet) { f.Workloads[1].Targets[0].Environment = "prod" }, want: []string{
			`small/web-main: web-main on small requires workload "redis": it is not there.`}},
		{name: "a target that fails, whose folder the branch keeps", workloads: []*fleet.Workload{
			failing(workload("redis", "both"), "large"), workload("web", "both", of("redis")),
		}, onBranch: []string{"large/redis-main"}, want: []string{
			"large/web-main dev-large-redis-main/redis-main/redis",
			"small/redis-main", "small/web-main dev-small-redis-main/redis-main/redis", "fails: large/redis-main",
		}},
		{name: "a target whose namespace is invalid", workloads: []*fleet.Workload{
			workload("redis.x", "large"), workload("web", "large", of("redis.x")),
		}, want: []string{
			`large/redis.x-main: large: "dev-large-redis.x-main" (22 characters) must not contain dots`,
			`large/web-main: web-main on large requires workload "redis.x": redis.x-main has no valid namespace there.`,
		}},
		{name: "a chain of requirements to a target that is left out", workloads: []*fleet.Workload{
			failing(workload("redis", "both"), "large"), workload("web", "both", of("redis")),
			workload("shop", "both", of("web")),
		}, want: []string{
			"small/redis-main", "small/shop-main dev-small-web-main/web-main/web@1",
			"small/web-main dev-small-redis-main/redis-main/redis", "fails: large/redis-main",
			`large/shop-main: shop-main on large requires workload "web": web-main fails by its team's fault, so it ` +
				`is left out.`,
			`large/web-main: web-main on large requires workload "redis": redis-main fails by its team's fault, so it ` +
				`is left out.`,
		}},
		{name: "a chain of requirements to a target that is left out, and the branch keeps the next one",
			workloads: []*fleet.Workload{
				failing(workload("redis", "large"), "large"), workload("web", "large", of("redis")),
				workload("shop", "large", of("web")),
			}, onBranch: []string{"large/web-main"}, want: []string{
				"large/shop-main dev-large-web-main/web-main/web@1", "fails: large/redis-main",
				`large/web-main: web-main on large requires workload "redis": redis-main fails by its team's fault, so it ` +
					`is left out.`,
			}},
		{name: "a target that is left out, with the guardrail warn", workloads: []*fleet.Workload{
			failing(workload("redis", "large"), "large"), workload("web", "large", of("redis")),
		}, change: func(f *optionedFleet) { f.Requires = problem.Warn }, want: []string{
			"large/web-main", "fails: large/redis-main",
			`: web-main on large requires workload "redis": redis-main fails by its team's fault, so it is left out.` +
				``,
		}},
		{name: "one of two satisfying targets is left out", workloads: []*fleet.Workload{
			withLabels(failing(workload("nginx", "large"), "large"), labels{"provides": "ingress"}),
			withLabels(workload("caddy", "large"), labels{"provides": "ingress"}),
			workload("web", "large", labelled("provides", "ingress")),
		}, want: []string{
			"large/caddy-main", "large/web-main dev-large-caddy-main/caddy-main/caddy", "fails: large/nginx-main",
		}},
		{name: "an invalid target, which the branch keeps on one cluster type", workloads: []*fleet.Workload{
			withLabels(workload("redis", "both"), labels{"a": "b c"}), workload("web", "both", of("redis")),
		}, onBranch: []string{"large/redis-main"}, want: []string{
			"large/web-main dev-large-redis-main/redis-main/redis",
			`/redis-main: "b c" is not valid: a valid label must be an empty string or consist of alphanumeric characters, ` +
				`'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue' or 'my_value' or ` +
				`'12345').`,
			`small/web-main: web-main on small requires workload "redis": redis-main fails by its team's fault, so it ` +
				`is left out.`,
		}},
		{name: "a cycle on one of the cluster types", workloads: []*fleet.Workload{
			workload("a", "both", of("b")), workload("b", "both", of("c")), workload("c", "both", labelled("loop", "x")),
			withLabels(workload("d", "large", of("a")), labels{"loop": "x"}),
			withLabels(workload("e", "both"), labels{"loop": "x"}), workload("f", "both", of("a")),
		}, change: func(f *optionedFleet) { f.Requires = problem.Warn }, want: []string{
			"large/e-main", "large/f-main",
			"small/a-main dev-small-b-main/b-main/b@2", "small/b-main dev-small-c-main/c-main/c@1",
			"small/c-main dev-small-e-main/e-main/e", "small/e-main", "small/f-main dev-small-a-main/a-main/a@3",
			"large/a-main large/b-main large/c-main large/d-main: a-main → b-main → c-main → d-main → a-main",
			`: f-main on large requires workload "a": a-main fails by its team's fault, so it is left out.`,
		}},
		{name: "a cycle that is ignored", workloads: []*fleet.Workload{
			workload("a", "large", of("b")), workload("b", "large", of("a")),
		}, change: func(f *optionedFleet) { f.Requires = problem.Ignore }, want: []string{
			"large/a-main dev-large-b-main/b-main/b@1", "large/b-main dev-large-a-main/a-main/a@2",
		}},
		{name: "a label that is not known yet", workloads: []*fleet.Workload{
			withLabels(workload("redis", "large"), labels{"provides": unknown.Text}),
			workload("web", "large", labelled("provides", "cache")), workload("none", "large"),
		}, want: []string{"large/none-main", "large/redis-main", "large/web-main unknown"}},
		{name: "a requirement that is not known yet", workloads: []*fleet.Workload{
			workload("redis", "large"), workload("web", "both", of(unknown.Text)),
		}, want: []string{"large/redis-main", "large/web-main unknown", "small/web-main"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(tt.workloads...)
			if tt.change != nil {
				tt.change(f)
			}
			f.OnBranch = onBranch(tt.onBranch...)
			if d := cmp.Diff(tt.want, outcome(t, f)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestTooManyRequiredTargets: a target fails if it requires more targets than templates may loop over, whatever the
// guardrail is.
func TestTooManyRequiredTargets(t *testing.T) {
	t.Parallel()
	var all []*fleet.Workload
	for i := range 129 {
		on := "large"
		if i < 3 {
			on = "both"
		}
		all = append(all, workload(fmt.Sprintf("w%03d", i), on))
	}
	f := newFleet(append(all, workload("web", "both", labelled("on", "large"), labelled("on", "both")))...)
	f.Requires, f.LeaveOutFailed = problem.Ignore, true
	result, problems := f.run(t.Context())
	if len(problems) > 0 || len(result.LeftOut) != 1 {
		t.Fatal(problems, result.LeftOut)
	}
	want := problem.AffectedTarget{ClusterType: "large", Name: "web-main"}
	if p := result.LeftOut[0]; p.Summary != "Too many required deployment targets" || len(p.Affects) != 1 ||
		p.Affects[0] != want {
		t.Error(p)
	}
}

// TestRequirementsFail checks the problems of a fleet that does not leave failing targets out. A required target that
// fails is reported for its own fault, and not as missing.
func TestRequirementsFail(t *testing.T) {
	t.Parallel()
	f := newFleet(workload("redis", "both"), workload("web", "both", of("redis"), of("none")),
		workload("a", "large", of("b")), workload("b", "large", of("a")))
	f.Workloads[0].Targets[0].Manifests["fail"] = "large"
	result, problems := f.run(t.Context())
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%s %v %s", p.Subject(), p.Path, p.Summary))
	}
	want := []string{
		`Template "r" [manifests 0] Template rendering failed`,
		`Workload "a" [deployment_targets 0 requires] Deployment targets require each other`,
		`Workload "web" [deployment_targets 0 requires 1] Required deployment targets are missing`,
	}
	if d := cmp.Diff(want, got); d != "" || result.Tree != nil {
		t.Errorf("(-want +got):\n%s", d)
	}
}
