package rendering_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// arguments contains all arguments of an object; unset ones are null.
type arguments map[string]any

// object is a Kalypso object of a random fleet.
type object struct {
	attribute string // the rendering's argument for such objects
	arguments arguments
	form      string // how it is configured: each, single, in_place, or a file of manifests
	key       string // in the map that contains it
}

func (o *object) name() string { return acc.As[string](o.arguments["name"]) }

const (
	formEach    = "each"
	formSingle  = "single"
	formInPlace = "in_place"
)

// randomFleet is a fleet, and the arguments of its rendering, that random edits change.
type randomFleet struct {
	*rand.Rand
	objects  []*object
	path     string
	preview  string
	promoted *string
	message  *string
	origin   string // the beginning of the keys of manifests
	made     int    // the number of names and texts so far, so that each is new
}

// attributes are the rendering's arguments for objects. One object of each kind is a single resource.
var attributes = []string{"cluster_types", "templates", "configs", "scheduling_policies", "workloads"}

func newRandomFleet(seed uint64) *randomFleet {
	f := &randomFleet{Rand: rand.New(rand.NewPCG(seed, seed)), path: ".", preview: "manifests"}
	for _, t := range []arguments{
		{"name": "argo", "type": "reconciler", "content_type": nil,
			"manifests": []any{"# app: {{ .DeploymentTargetName }}\n# repo: {{ .Manifests.repo }}\n", "# of: {{ .Workload }}"}},
		{"name": "flux", "type": "reconciler", "content_type": "yaml",
			"manifests": []any{
				"apiVersion: v1\nkind: A\nmetadata: {name: a, namespace: {{ .Namespace }}}\n" +
					"labels:\n{{ .Labels | toYaml | indent 4 }}\n"}},
		{"name": "namespace", "type": "namespace", "content_type": nil, "manifests": []any{"# name: {{ .Namespace }}\n"}},
		{"name": "map", "type": "config", "content_type": nil,
			"manifests": []any{
				"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: {{ .Namespace }}}\n" +
					"data:\n{{ .ConfigData | stringify | indent 2 }}\n"}},
		{"name": "env", "type": "config", "content_type": "sh",
			"manifests": []any{"{{ if .ConfigData.a }}export A='{{ .ConfigData.a | toYaml }}'\n{{ end }}"}},
	} {
		f.add("templates", t)
	}
	for range 4 {
		f.addClusterType()
		f.addConfig()
	}
	for range 3 {
		f.addPolicy()
		f.addWorkload()
	}
	return f
}

func pick[T any](f *randomFleet, all ...T) T { return all[f.IntN(len(all))] }

func (f *randomFleet) chance(percent int) bool { return f.IntN(100) < percent }

func (f *randomFleet) newName(prefix string) string {
	f.made++
	return fmt.Sprintf("%s%d", prefix, f.made)
}

// add adds an object: the first object of its kind as the single resource, further objects in a random form.
func (f *randomFleet) add(attribute string, a arguments) {
	o := &object{attribute, a, formSingle, "single"}
	if len(f.of(attribute)) > 0 {
		f.move(o)
	}
	f.objects = append(f.objects, o)
}

// move configures an object in another form, or under another key.
func (f *randomFleet) move(o *object) {
	o.form = pick(f, formEach, formInPlace, "fleet/1.yaml", "fleet/2.yaml")
	o.key = f.newName("key-")
}

// of returns the objects of a kind.
func (f *randomFleet) of(attribute string) []*object {
	return slices.Collect(func(yield func(*object) bool) {
		for _, o := range f.objects {
			if o.attribute == attribute && !yield(o) {
				return
			}
		}
	})
}

// labels returns a random subset of the given labels.
func (f *randomFleet) labels(percent int, of map[string][]string) map[string]any {
	labels := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		if f.chance(percent) {
			labels[key] = pick(f, of[key]...)
		}
	}
	return labels
}

var (
	clusterLabels = map[string][]string{"region": {"west", "east"}, "size": {"small", "large"}, "edge": {"true"}}
	targetLabels  = map[string][]string{"purpose": {"test", "perf"}, "tier": {"gold", "silver"}}
)

func (f *randomFleet) addClusterType() {
	f.add("cluster_types", arguments{
		"name": f.newName("c"), "labels": f.labels(70, clusterLabels),
		"reconciler": pick(f, "argo", "flux"), "namespace_service": "namespace",
		"config_type": pick[any](f, "map", "env", nil),
	})
}

func (f *randomFleet) addConfig() {
	labels := f.labels(30, clusterLabels)
	maps.Copy(labels, f.labels(15, targetLabels))
	if f.chance(20) {
		labels["cluster-type"] = pick(f, f.of("cluster_types")...).name()
	}
	data := map[string]any{}
	for _, key := range []string{"a", "b", "c"} {
		if f.chance(60) {
			data[key] = f.value()
		}
	}
	f.add("configs", arguments{"name": f.newName("k"), "labels": labels, "data": data})
}

func (f *randomFleet) value() string {
	return pick(f, "plain", "'5432'", "1.10", "x: 1\ny: [1, 2]\n", "- name: one\n  v: "+f.newName("v")+"\n",
		f.newName("text "))
}

func (f *randomFleet) selector(of map[string][]string, others arguments) arguments {
	s := arguments{"match_labels": nil, "match_expressions": nil, "match_all": nil}
	maps.Copy(s, others)
	key := pick(f, slices.Sorted(maps.Keys(of))...)
	switch f.IntN(4) {
	case 0:
		s["match_all"] = true
	case 1:
		s["match_expressions"] = []any{map[string]any{"key": key, "operator": pick(f, "Exists", "DoesNotExist"),
			"values": nil}}
	case 2:
		s["match_expressions"] = []any{map[string]any{"key": key, "operator": pick(f, "In", "NotIn"),
			"values": []any{of[key][0]}}}
	default:
		s["match_labels"] = map[string]any{key: pick(f, of[key]...)}
	}
	return s
}

func (f *randomFleet) addPolicy() {
	f.add("scheduling_policies", arguments{
		"name":                       f.newName("p"),
		"deployment_target_selector": f.selector(targetLabels, arguments{"workspace": pick[any](f, nil, nil, "team-a")}),
		"cluster_type_selector":      f.selector(clusterLabels, nil),
	})
}

func (f *randomFleet) addWorkload() {
	w := arguments{"name": f.newName("w"), "labels": f.labels(30, map[string][]string{"tier": {"gold"}}),
		"workspace": pick[any](f, nil, "team-a", "team-b"), "deployment_targets": []any{}}
	f.add("workloads", w)
	for range 1 + f.IntN(3) {
		f.addTarget(w)
	}
}

func (f *randomFleet) addTarget(w arguments) {
	w["deployment_targets"] = append(acc.As[[]any](w["deployment_targets"]), map[string]any{
		"name": f.newName("t"), "environment": pick(f, "dev", "dev", "dev", "stage"), "labels": f.labels(70, targetLabels),
		"manifests": map[string]any{"repo": f.newName("repo-"), "path": "."},
	})
}

// targets returns the names of the deployment targets.
func (f *randomFleet) targets() []string {
	var names []string
	for _, w := range f.of("workloads") {
		for _, t := range acc.As[[]any](w.arguments["deployment_targets"]) {
			if target := acc.As[map[string]any](t); target["environment"] == "dev" {
				names = append(names, w.name()+"-"+acc.As[string](target["name"]))
			}
		}
	}
	slices.Sort(names)
	return names
}

// edit is a change to a fleet, named for the log of a failure.
type edit struct {
	name string
	make func(f *randomFleet)
}

// quietEdits lists the edits that change no rendered byte.
var quietEdits = []edit{
	{"rename a key", func(f *randomFleet) {
		if o := pick(f, f.objects...); o.form == formEach || o.form == formInPlace {
			o.key = f.newName("key-")
		}
	}},
	{"move an object", func(f *randomFleet) {
		if o := pick(f, f.objects...); o.form != formSingle {
			f.move(o)
		}
	}},
	{"all to YAML", func(f *randomFleet) {
		for _, o := range f.objects {
			if o.form != formSingle {
				o.form = "fleet/3.yaml"
			}
		}
	}},
	{"another order", func(f *randomFleet) {
		f.Shuffle(len(f.objects), func(i, j int) { f.objects[i], f.objects[j] = f.objects[j], f.objects[i] })
	}},
	{"commit message", func(f *randomFleet) { f.message = new(f.newName("Message ")) }},
	{"another origin", func(f *randomFleet) {
		f.origin = fmt.Sprintf("https://git.acme.io/control-plane@%040x:", f.Uint64())
	}},
	{"config that applies to no target", func(f *randomFleet) {
		f.add("configs", arguments{"name": f.newName("k"), "labels": map[string]any{"region": "nowhere"},
			"data": map[string]any{"a": f.value()}})
	}},
	{"another preview", func(f *randomFleet) {
		f.preview = pick(f, "none", "summary", "assignments", "manifests", "manifests")
	}},
	{"target in another environment", func(f *randomFleet) {
		w := pick(f, f.of("workloads")...).arguments
		w["deployment_targets"] = append(acc.As[[]any](w["deployment_targets"]),
			map[string]any{"name": f.newName("t"), "environment": "stage", "labels": nil, "manifests": nil})
	}},
}

// anyEdits lists the edits that may change rendered bytes.
var anyEdits = []edit{
	{"add a cluster type", (*randomFleet).addClusterType},
	{"remove a cluster type", func(f *randomFleet) { f.remove("cluster_types") }},
	{"change a cluster type", func(f *randomFleet) {
		a := pick(f, f.of("cluster_types")...).arguments
		a["labels"], a["reconciler"], a["config_type"] = f.labels(70, clusterLabels), pick(f, "argo", "flux"), pick[any](f,
			"map", "env", nil)
	}},
	{"add a config", (*randomFleet).addConfig},
	{"remove a config", func(f *randomFleet) { f.remove("configs") }},
	{"change a value", func(f *randomFleet) {
		acc.As[map[string]any](pick(f, f.of("configs")...).arguments["data"])[pick(f, "a", "b", "c")] = f.value()
	}},
	{"add a policy", (*randomFleet).addPolicy},
	{"remove a policy", func(f *randomFleet) { f.remove("scheduling_policies") }},
	{"change a policy", func(f *randomFleet) {
		pick(f, f.of("scheduling_policies")...).arguments["cluster_type_selector"] = f.selector(clusterLabels, nil)
	}},
	{"add a workload", (*randomFleet).addWorkload},
	{"remove a workload", func(f *randomFleet) { f.remove("workloads") }},
	{"add a target", func(f *randomFleet) { f.addTarget(pick(f, f.of("workloads")...).arguments) }},
	{"remove a target", func(f *randomFleet) {
		a := pick(f, f.of("workloads")...).arguments
		if targets := acc.As[[]any](a["deployment_targets"]); len(targets) > 1 {
			a["deployment_targets"] = targets[1:]
		}
	}},
	{"label a target", func(f *randomFleet) {
		targets := acc.As[[]any](pick(f, f.of("workloads")...).arguments["deployment_targets"])
		acc.As[map[string]any](pick(f, targets...))["labels"] = f.labels(70, targetLabels)
	}},
	{"change a template", func(f *randomFleet) {
		a := pick(f, f.of("templates")...).arguments
		a["manifests"] = append(slices.Clone(acc.As[[]any](a["manifests"])), "# "+f.newName("line ")+"\n")
	}},
	{"promote", func(f *randomFleet) { f.promoted = new(f.newName("commit-")) }},
	{"remove the promoted commit", func(f *randomFleet) { f.promoted = nil }},
	{"another path", func(f *randomFleet) { f.path = pick(f, ".", "clusters", "clusters/dev") }},
}

// remove removes an object that is not the single resource of its kind.
func (f *randomFleet) remove(attribute string) {
	o := pick(f, f.of(attribute)...)
	if o.form != formSingle {
		f.objects = slices.DeleteFunc(f.objects, func(other *object) bool { return other == o })
	}
}

// write writes the fleet to the folder of a root module.
func (f *randomFleet) write(t *testing.T, r *acc.Root) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(r.Folder, "fleet")); err != nil {
		t.Fatal(err)
	}
	forms := map[string]map[string]map[string]any{formEach: {}, formInPlace: {}}
	for _, attribute := range attributes {
		forms[formEach][attribute], forms[formInPlace][attribute] = map[string]any{}, map[string]any{}
	}
	single, files := map[string]any{}, map[string][]string{}
	for _, o := range f.objects {
		switch o.form {
		case formSingle:
			single[o.attribute] = o.arguments
		case formEach, formInPlace:
			forms[o.form][o.attribute][o.key] = o.arguments
		default:
			text, err := yaml.Marshal(o.document())
			if err != nil {
				t.Fatal(err)
			}
			files[o.form] = append(files[o.form], "# "+o.key+"\n"+string(text))
		}
	}
	for name, documents := range files {
		r.Write(name, strings.Join(documents, "---\n"))
	}
	r.Write("fleet.json", acc.ToJSON(t, map[string]any{
		"each": forms[formEach], "in_place": forms[formInPlace], "single": single,
		"path": f.path, "preview": f.preview, "promoted_commit": f.promoted, "commit_message": f.message, "origin": f.origin,
	}))
}

// document returns the object as a Kalypso document.
func (o *object) document() map[string]any {
	a := o.arguments
	metadata := map[string]any{"name": a["name"], "labels": a["labels"]}
	labels := maps.Clone(asMap(a["labels"]))
	spec := map[string]any{}
	kind := map[string]string{"cluster_types": "ClusterType", "templates": "Template",
		"scheduling_policies": "SchedulingPolicy", "workloads": "Workload"}[o.attribute]
	switch o.attribute {
	case "configs":
		labels["platform-config"] = "true"
		metadata["labels"] = labels
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": a["data"]}
	case "cluster_types":
		spec = map[string]any{"reconciler": a["reconciler"], "namespaceService": a["namespace_service"],
			"configType": a["config_type"]}
	case "templates":
		spec = map[string]any{"type": a["type"], "contentType": a["content_type"], "manifests": a["manifests"]}
	case "scheduling_policies":
		targets := acc.As[arguments](a["deployment_target_selector"])
		spec = map[string]any{
			"deploymentTargetSelector": map[string]any{"workspace": targets["workspace"],
				"labelSelector": labelSelector(targets)},
			"clusterTypeSelector": map[string]any{"labelSelector": labelSelector(acc.As[arguments](a["cluster_type_selector"]))},
		}
	case "workloads":
		if a["workspace"] != nil {
			labels["workspace"] = a["workspace"]
		}
		metadata["labels"] = labels
		spec["deploymentTargets"] = a["deployment_targets"]
	}
	return withoutNulls(map[string]any{"apiVersion": "scheduler.kalypso.io/v1alpha1", "kind": kind, "metadata": metadata,
		"spec": spec})
}

func labelSelector(s arguments) map[string]any {
	return map[string]any{"matchLabels": s["match_labels"], "matchExpressions": s["match_expressions"]}
}

func asMap(v any) map[string]any {
	m, ok := v.(map[string]any)
	if !ok {
		return map[string]any{}
	}
	return m
}

// withoutNulls returns the document without its null fields.
func withoutNulls(m map[string]any) map[string]any {
	all := map[string]any{}
	for key, v := range m {
		if nested, ok := v.(map[string]any); ok {
			v = withoutNulls(nested)
		}
		if v != nil {
			all[key] = v
		}
	}
	return all
}
