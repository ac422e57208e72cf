package corpus_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
)

// rendering gives the world a rendering of a small fleet.
func (w *world) rendering() {
	w.resource.Type = "kalypso_environment_rendering"
	w.args = args{
		"environment": "dev",
		"gitops_repo": args{"repo": w.url, "branch": "dev"},
		"guardrails":  args{"max_removed": "100%", "allow_empty": true},
		"templates": args{
			"reconciler": args{"name": "reconciler", "type": "reconciler", "manifests": []any{
				manifest("Sync") + "value: {{ .ConfigData.value }} in {{ .Namespace }}\n" +
					`{{ if eq .Manifests.breaks "data" }}{{ .Manifests.none }}{{ end }}`}},
			"namespace": args{"name": "namespace", "type": "namespace", "manifests": []any{manifest("Namespace")}},
			"config": args{"name": "config", "type": "config", "manifests": []any{
				manifest("ConfigMap") + "data:\n{{ .ConfigData | stringify | indent 2 }}\n"}},
		},
		"configs":             args{"all": config("all", nil, args{"value": "1"})},
		"cluster_types":       args{},
		"scheduling_policies": args{},
		"workloads":           args{},
	}
	for _, ring := range []string{"0", "1"} {
		w.addClusterType(ring)
	}
	w.policies()["test"] = policy("test", args{"purpose": "test"}, nil)
	w.policies()["edge"] = policy("edge", args{"purpose": "edge"}, args{"ring": "0"})
	for range 2 {
		w.addWorkload()
	}
}

// manifest returns the beginning of an object's template.
func manifest(kind string) string {
	return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: {{ .Namespace }}}\n"
}

func config(name string, labels, data args) args {
	return args{"name": name, "labels": labels, "data": data}
}

func policy(name string, targets, types args) args {
	p := args{
		"name":                       name,
		"deployment_target_selector": args{"match_labels": targets},
		"cluster_type_selector":      args{"match_labels": types},
	}
	if types == nil {
		p["cluster_type_selector"] = args{"match_all": true}
	}
	return p
}

func (w *world) part(name string) args      { return w.args[name].(args) } //nolint:forcetypeassert // set by rendering
func (w *world) types() args                { return w.part("cluster_types") }
func (w *world) policies() args             { return w.part("scheduling_policies") }
func (w *world) configs() args              { return w.part("configs") }
func (w *world) destination() args          { return w.part("gitops_repo") }
func (w *world) anyKey(objects args) string { return pick(w, slices.Sorted(maps.Keys(objects))...) }

func (w *world) anyOf(objects args) args {
	return objects[w.anyKey(objects)].(args) //nolint:forcetypeassert // set by rendering
}

// setting returns an object argument, so that the caller can change it. It adds the argument if it is missing.
func (w *world) setting(name string) args {
	if _, ok := w.args[name].(args); !ok {
		w.args[name] = args{}
	}
	return w.part(name)
}

func (w *world) addClusterType(ring string) {
	name := w.name("c")
	c := args{
		"name": name, "reconciler": "reconciler", "namespace_service": "namespace", "config_type": "config",
		"labels": args{"ring": ring, "region": pick(w, "east", "west")},
	}
	if !slices.Contains(w.yaml, "cluster_types") {
		c["properties"] = args{"cost": strconv.Itoa(1 + w.IntN(5))}
	}
	w.types()[name] = c
}

func (w *world) addWorkload() {
	name := w.name("w")
	w.part("workloads")[name] = args{"name": name, "deployment_targets": []any{}}
	for range 1 + w.IntN(2) {
		w.addTarget(name)
	}
}

// addTarget adds a deployment target to a workload, and returns it.
func (w *world) addTarget(workload string) args {
	of := w.part("workloads")[workload].(args) //nolint:forcetypeassert // set by addWorkload
	target := args{
		"name": w.name("t"), "environment": "dev", "labels": args{"purpose": pick(w, "test", "test", "edge")},
		"manifests": args{"breaks": ""},
	}
	of["deployment_targets"] = append(of["deployment_targets"].([]any), target) //nolint:forcetypeassert // by addWorkload
	return target
}

// target returns a deployment target of any workload.
func (w *world) target() args {
	workload := w.anyOf(w.part("workloads"))
	targets := workload["deployment_targets"].([]any) //nolint:forcetypeassert // set by addWorkload
	return pick(w, targets...).(args)                 //nolint:forcetypeassert // set by addTarget
}

// edit is a change that a story may make before a step.
type edit struct {
	name   string
	weight int
	make   func(w *world)
}

// edit makes one of the edits. An edit with a higher weight is more likely.
func (w *world) edit(among []edit) {
	total := 0
	for _, e := range among {
		total += e.weight
	}
	at := w.IntN(total)
	for _, e := range among {
		at -= e.weight
		if at < 0 {
			w.did("%s", e.name)
			e.make(w)
			return
		}
	}
}

// fleetEdits lists changes of the fleet.
var fleetEdits = []edit{
	{"nothing", 2, func(*world) {}},
	{"value of all", 8, func(w *world) { w.configs()["all"] = config("all", nil, args{"value": w.name("v")}) }},
	{"value of one cluster type", 6, func(w *world) {
		of := w.anyKey(w.types())
		w.configs()["of-"+of] = config("of-"+of, args{"cluster-type": of}, args{"own": w.name("v")})
	}},
	{"remove a config", 2, func(w *world) {
		if key := w.anyKey(w.configs()); key != "all" {
			delete(w.configs(), key)
		}
	}},
	{"a secret as value", 1, func(w *world) {
		w.configs()["token"] = config("token", nil, args{"token": "ghp_0123456789abcdefghijABCDEFGHIJ012345"})
	}},
	{"reference to a secret", 1, func(w *world) {
		password := args{"store": "vault", "key": w.name("db-")}
		w.args["secrets"] = args{"db": args{"name": "db", "data": args{"password": password}}}
	}},
	{"add a cluster type", 3, func(w *world) { w.addClusterType(pick(w, "0", "1", "2")) }},
	{"remove a cluster type", 2, func(w *world) {
		if len(w.types()) > 1 {
			delete(w.types(), w.anyKey(w.types()))
		}
	}},
	{"another label of a cluster type", 2, func(w *world) {
		w.anyOf(w.types())["labels"] = args{"ring": pick(w, "0", "1", "2"), "region": pick(w, "east", "west", "north")}
	}},
	{"add a workload", 2, (*world).addWorkload},
	{"remove a workload", 1, func(w *world) {
		if len(w.part("workloads")) > 1 {
			delete(w.part("workloads"), w.anyKey(w.part("workloads")))
		}
	}},
	{"add a deployment target", 3, func(w *world) { w.addTarget(w.anyKey(w.part("workloads"))) }},
	{"another label of a deployment target", 2, func(w *world) {
		w.target()["labels"] = args{"purpose": pick(w, "test", "edge", "none")}
	}},
	{"template", 2, func(w *world) {
		w.part("templates")["namespace"] = args{"name": "namespace", "type": "namespace",
			"manifests": []any{"name: {{ .Namespace }}\n# " + w.name("line ") + "\n"}}
	}},
	{"objects of YAML", 2, func(w *world) {
		name := w.name("y")
		w.args["manifests"] = args{"https://git.acme.io/cp@main:fleet/" + name + ".yaml": "apiVersion: " +
			"scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {name: " + name + ", labels: {ring: '1'}}\n" +
			"spec: {reconciler: reconciler, namespaceService: namespace}\n"}
		w.args["sources"] = args{"https://git.acme.io/cp@main:fleet": strings.Repeat("c", 39) + strconv.Itoa(w.IntN(10))}
	}},
	{"promoted commit", 3, func(w *world) {
		w.args["promotion"] = nil
		w.args["promoted_commit"] = hash(w.name("commit"))
	}},
	{"promotion", 3, func(w *world) {
		w.args["promoted_commit"] = nil
		w.args["promotion"] = args{
			"commit": hash(w.name("commit")), "decision": pick(w, "promote", "promote", "hold", "pinned"),
			"summary": w.name("Gate "),
		}
	}},
}

// hash returns the hash of a commit, derived from a text.
func hash(text string) string { return fmt.Sprintf("%x%040d", text, 0)[:40] }

// settingsEdits lists changes of the settings of the delivery.
var settingsEdits = []edit{
	{"path", 2, func(w *world) { w.destination()["path"] = pick(w, ".", "clusters", "clusters/dev") }},
	{"branch", 2, func(w *world) { w.destination()["branch"] = pick(w, "dev", "dev", "live", "absent") }},
	{"repo", 1, func(w *world) {
		if w.other != "" {
			w.destination()["repo"] = pick(w, w.url, w.otherURL)
		}
	}},
	{"on_move", 1, func(w *world) { w.args["on_move"] = pick(w, "keep", "remove") }},
	{"create_branch", 1, func(w *world) { w.args["create_branch"] = w.chance(60) }},
	{"adopt", 2, func(w *world) { w.args["adopt"] = w.chance(60) }},
	{"on_drift", 3, func(w *world) { w.args["on_drift"] = pick(w, "fail", "overwrite") }},
	{"guardrails", 2, func(w *world) {
		w.args["guardrails"] = args{
			"max_removed": pick[any](w, "0", "1", "50%", "100%", nil), "allow_empty": w.chance(50),
			"unscheduled": pick[any](w, nil, "error", "warn"), "moved": pick[any](w, nil, "warn", "error"),
			"secrets": pick[any](w, nil, "warn", "ignore"), "max_kept": pick[any](w, nil, "1", "100%"),
			"require_known": w.chance(20),
		}
	}},
	{"a removal beyond the guardrails", 3, func(w *world) {
		w.args["guardrails"] = args{"max_removed": pick(w, "0", "1", "10%")}
		delete(w.types(), w.anyKey(w.types()))
		w.types()["c0"] = args{"name": "c0", "reconciler": "reconciler", "namespace_service": "namespace"}
	}},
	{"preview", 1, func(w *world) { w.args["preview"] = pick[any](w, "none", "manifests", nil) }},
	{"commit message", 1, func(w *world) { w.args["commit_message"] = pick[any](w, nil, w.name("Message ")) }},
	{"description", 2, func(w *world) { w.setting("delivery")["describe"] = pick[any](w, nil, "keys", "values") }},
	{"strategy", 1, func(w *world) { w.setting("delivery")["strategy"] = pick[any](w, "none", "push", nil) }},
	{"environment", 1, func(w *world) { w.args["environment"] = pick(w, "dev", "dev", "stage") }},
	{"deletion_protection", 1, func(w *world) { w.args["deletion_protection"] = w.chance(30) }},
	{"on_destroy", 1, func(w *world) { w.args["on_destroy"] = pick(w, "remove", "keep") }},
	{"reviewers of a push", 1, func(w *world) {
		w.setting("delivery")["reviewers"] = pick[any](w, nil, []any{"octocat"})
	}},
	{"wrong argument", 1, func(w *world) {
		pick(w,
			func() { w.destination()["path"] = "../up" },
			func() { w.destination()["branch"] = "a..b" },
			func() { w.setting("guardrails")["max_removed"] = "many" },
			func() { w.policies()["test"] = policy("test", args{"no good": "x"}, nil) },
			func() { w.anyOf(w.types())["reconciler"] = "absent" },
			func() { w.args["promotion"], w.args["promoted_commit"] = args{"commit": "x"}, "y" },
		)()
	}},
	{"right arguments", 3, (*world).mend},
}

// mend fixes wrong arguments.
func (w *world) mend() {
	d := w.destination()
	if path, _ := d["path"].(string); path == "../up" {
		d["path"] = "."
	}
	if d["branch"] != "live" {
		d["branch"] = "dev"
	}
	w.args["guardrails"] = args{"max_removed": "100%", "allow_empty": true}
	w.policies()["test"] = policy("test", args{"purpose": "test"}, nil)
	for _, c := range w.types() {
		c.(args)["reconciler"] = "reconciler" //nolint:forcetypeassert // set by addClusterType
	}
	w.args["promotion"] = nil
	w.args["create_branch"], w.args["on_drift"] = true, "overwrite"
	delete(w.configs(), "token")
}

// teamEdits lists changes by teams that break deployment targets, and changes that fix them.
var teamEdits = []edit{
	{"a team breaks its data", 4, func(w *world) { w.target()["manifests"] = args{"breaks": "data"} }},
	{"a team breaks its text", 2, func(w *world) { w.target()["manifests"] = args{"breaks": "{{"} }},
	{"a team breaks its schema", 2, func(w *world) { w.target()["config_schemas"] = []any{`{"required": ["none"]}`} }},
	{"a team adds what breaks", 3, func(w *world) {
		w.addTarget(w.anyKey(w.part("workloads")))["manifests"] = args{"breaks": "data"}
	}},
	{"a team mends", 4, func(w *world) {
		of := w.target()
		of["manifests"], of["config_schemas"] = args{"breaks": ""}, nil
	}},
	{"on_assignment_error", 2, func(w *world) { w.args["on_assignment_error"] = pick(w, "keep", "keep", "fail") }},
}

// placementEdits lists changes of placement.
var placementEdits = []edit{
	{"number of cluster types", 4, func(w *world) {
		w.policies()["test"].(args)["placement"] = args{ //nolint:forcetypeassert // set by rendering
			"number_of_cluster_types": 1 + w.IntN(3),
			"prefer": pick[any](w, nil,
				[]any{args{"property": "cost", "weight": pick(w, -1, 1)}}, []any{args{"balance": true}}),
			"spread":      pick[any](w, nil, nil, []any{args{"key": "region"}}),
			"tolerations": pick[any](w, nil, []any{args{"operator": "Exists"}}),
		}
	}},
	{"as many cluster types as there are", 2, func(w *world) {
		w.policies()["test"].(args)["placement"] = args{ //nolint:forcetypeassert // set by rendering
			"number_of_cluster_types": len(w.types())}
	}},
	{"all cluster types", 2, func(w *world) {
		delete(w.policies()["test"].(args), "placement") //nolint:forcetypeassert // set by rendering
	}},
	{"taint", 3, func(w *world) {
		w.anyOf(w.types())["taints"] = pick[any](w, nil, []any{args{"key": "gpu", "value": "yes",
			"effect": pick(w, "NoSelect", "NoSelectIfNew")}})
	}},
	{"property", 2, func(w *world) { w.anyOf(w.types())["properties"] = args{"cost": strconv.Itoa(1 + w.IntN(9))} }},
	{"unsatisfied", 1, func(w *world) { w.setting("guardrails")["unsatisfied"] = pick(w, "warn", "ignore", "error") }},
}

// unknownEdits lists changes that make arguments unknown at plan.
var unknownEdits = []edit{
	{"value not known", 2, func(w *world) { w.hide("configs.all.data.value") }},
	{"data not known", 1, func(w *world) { w.hide("configs.all.data") }},
	{"promoted commit not known", 2, func(w *world) {
		w.args["promoted_commit"], w.args["promotion"] = hash(w.name("commit")), nil
		w.hide("promoted_commit")
	}},
	{"branch not known", 1, func(w *world) { w.hide("gitops_repo.branch") }},
	{"path not known", 1, func(w *world) { w.hide("gitops_repo.path") }},
	{"destination not known", 1, func(w *world) { w.hide("gitops_repo") }},
	{"environment not known", 1, func(w *world) { w.hide("environment") }},
	{"cluster types not known", 1, func(w *world) { w.hide("cluster_types") }},
	{"labels not known", 2, func(w *world) { w.hide("cluster_types." + w.anyKey(w.types()) + ".labels") }},
	{"label not known", 2, func(w *world) { w.hide("cluster_types." + w.anyKey(w.types()) + ".labels.ring") }},
	{"selector not known", 1, func(w *world) {
		w.hide("scheduling_policies.edge.cluster_type_selector.match_labels.ring")
	}},
	{"placement not known", 1, func(w *world) { w.hide("scheduling_policies.test.placement") }},
	{"strategy not known", 1, func(w *world) { w.setting("delivery"); w.hide("delivery.strategy") }},
	{"guardrail not known", 1, func(w *world) { w.setting("guardrails"); w.hide("guardrails.max_removed") }},
}

func (w *world) hide(path string) { w.unknown = append(w.unknown, path) }

// rolloutEdits lists changes of the waves.
var rolloutEdits = []edit{
	{"stages", 3, func(w *world) { w.args["rollout"] = w.stages() }},
	{"no rollout", 1, func(w *world) { w.args["rollout"] = nil }},
	{"skip", 1, func(w *world) {
		if tree := w.attribute("target_tree_hash"); tree != "" && w.args["rollout"] != nil {
			w.part("rollout")["skip"] = tree
		}
	}},
	{"clusters report", 8, func(w *world) { w.reports = true }},
	{"clusters fail", 2, func(w *world) { w.reports, w.verdict = true, "failed" }},
	{"clusters work", 2, func(w *world) { w.verdict = "current" }},
	{"nobody looks", 1, func(w *world) { w.reports = false }},
	{"time goes by", 3, func(w *world) { w.now = w.now.Add(soakTime) }},
	{"a kill", 1, func(w *world) { w.killed = true }},
}

func (w *world) stages() args {
	stage := func(name, ring string) args {
		return args{"name": name, "cluster_type_selector": args{"match_labels": args{"ring": ring}},
			"max_concurrency": pick[any](w, nil, "1", "50%"), "soak": pick[any](w, nil, nil, "30m")}
	}
	rest := args{"name": "rest", "cluster_type_selector": args{"match_all": true}}
	return args{"stages": pick(w,
		[]any{stage("first", "0"), stage("second", "1"), rest},
		[]any{stage("first", "0"), rest},
		[]any{stage("first", "1"), stage("second", "0"), stage("third", "2")},
		[]any{rest},
	)}
}

// observe gives the rollout an observation: each cluster type has one cluster, which runs the head of the branch.
func (w *world) observe(s *protocol.Session) {
	w.t.Helper()
	rollout, ok := w.args["rollout"].(args)
	if !ok {
		return
	}
	delete(rollout, "observed")
	head := w.head(w.destination())
	if !w.reports || head == "" {
		return
	}
	reports := []any{}
	for _, name := range slices.Sorted(maps.Keys(w.types())) {
		state := w.verdict
		if state == "failed" && w.chance(50) {
			state = "current"
		}
		reports = append(reports, args{
			"cluster": "of-" + name, "folder": name, "revision": fmt.Sprintf("%s@sha1:%s", w.destination()["branch"], head),
			"state": state, "message": state + " it is", "time": w.now.UTC().Format("2006-01-02T15:04:05Z"),
		})
	}
	seen, ds := s.ReadData(w.t.Context(), "kalypso_deployment_state", args{
		"gitops_repo": w.destination(), "source": args{"reports": reports},
	})
	w.note("observe", ds)
	if !ds.HasErrors() {
		w.trace.state("observed", seen)
		rollout["observed"] = seen
	}
}
