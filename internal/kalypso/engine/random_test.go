package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// randomFleet returns a small fleet to which every rule may apply. The same seed gives the same fleet.
func randomFleet(seed uint64) *fleet.Fleet {
	g := &fleetGenerator{rand.New(rand.NewPCG(seed, 11))}
	f := &fleet.Fleet{Environment: "dev"}
	for i, manifests := range [][]string{
		{"kind: GitRepository\nname: {{ .DeploymentTargetName }}\nurl: {{ .Manifests.repo }}\n",
			"path: {{ .Manifests.path | default \"./\" }}"},
		{"kind: Namespace\nname: {{ .Namespace }}\nworkspace: {{ .Workspace | quote }}\nlabels: {{ toJson .Labels }}"},
		{"kind: ConfigMap\nns: {{ .Namespace }}\ndata:\n{{ stringify .ConfigData | indent 2 }}\n"},
		{"{{- range $k, $v := .ConfigData -}}\nexport {{ $k }}={{ toJson $v | squote }}\n{{ end -}}"},
		{"{{ .ConfigData.A | default \"none\" }}", "{{ if .ConfigData.B }}{{ toYaml .ConfigData.B }}{{ end }}"},
		{"all: {{ hash . }}", `{{ index .ConfigData "C" | default "none" | toYaml }} of {{ .Repo | default "no repo" }}`},
		{"{{ range $k, $r := .SecretData }}{{ $k }}: {{ $r.store }}/{{ $r.key }}\n{{ end }}", "{{ .SecretData.P | toYaml }}"},
	} {
		name := fmt.Sprintf("t%d", i)
		config := fleet.TemplateConfig
		types := []string{fleet.TemplateReconciler, fleet.TemplateNamespace, config, config, config, config,
			fleet.TemplateSecret}
		f.Templates = append(f.Templates, &fleet.Template{
			Meta: meta(
				"templates",
				name,
				nil,
			),
			Type:        types[i],
			ContentType: g.one("", "yaml", "sh"),
			Manifests:   manifests,
		})
	}
	for i := range 1 + g.IntN(3) {
		name := fmt.Sprintf("c%d", i)
		f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{
			Meta: meta(
				"cluster_types",
				name,
				g.labels(),
			),
			Reconciler:       g.one("t0", "t0", "t5"),
			NamespaceService: g.one("t1", "t1", "t4"),
			ConfigType:       g.one("", "t2", "t3", "t4", "t5"),
			SecretType:       g.one("", "", "t6"),
		})
	}
	for i := range g.IntN(6) {
		labels := g.labels()
		labels[fleet.PlatformConfigLabel] = "true"
		switch g.IntN(4) {
		case 0:
			labels[fleet.ClusterTypeLabel] = g.one("c0", "c1")
		case 1:
			labels[fleet.DeploymentTargetLabel] = g.one("w0-a", "w1-b")
		case 2:
			labels[fleet.WorkloadLabel] = "w0"
		}
		f.Configs = append(
			f.Configs,
			&fleet.Config{Meta: meta("configs", fmt.Sprintf("%d-config", i), labels), Data: g.data()},
		)
	}
	for i := range g.IntN(2) {
		data := map[string]string{}
		of := g.data()
		for _, k := range slices.Sorted(maps.Keys(of)) {
			data[g.one("", "region.east.", "cluster-type.c0.", "size.large.region.west.", "odd.")+k] = of[k]
		}
		f.Configs = append(
			f.Configs,
			&fleet.Config{Meta: meta("configs", fmt.Sprintf("azure-app-config-%d", i), nil), Data: data},
		)
	}
	for i := range g.IntN(3) {
		f.Secrets = append(f.Secrets, &fleet.Secret{
			Meta: meta("secrets", fmt.Sprintf("s%d", i), g.labels()),
			Data: map[string]fleet.SecretReference{
				g.one("S", "T"): {Store: g.one("vault", "azure"), Key: g.one("a", "b")},
				"P":             {Store: g.one("vault", "azure"), Key: "{{ .ClusterType }}", Property: g.one("a", "b")},
			},
		})
	}
	if g.IntN(4) == 0 {
		f.ConfigSchemas = append(
			f.ConfigSchemas,
			&fleet.ConfigSchema{Meta: meta("config_schemas", "s", g.labels()), Schema: `{"type": "object"}`},
		)
	}
	for i := range 1 + g.IntN(3) {
		w := &fleet.Workload{Meta: meta("workloads", fmt.Sprintf("w%d", i), g.labels())}
		if g.IntN(2) == 0 {
			w.Labels[fleet.FluxOwnerLabel] = fmt.Sprintf("dev-r%d", g.IntN(2))
		}
		for _, name := range []string{"a", "b", "c"}[:1+g.IntN(3)] {
			w.Targets = append(w.Targets, fleet.Target{
				Name: name, Labels: g.labels(), Environment: g.one("dev", "dev", "dev", "stage"),
				Manifests: map[string]string{"repo": "https://example.com/" + w.Name, "path": g.one(".", "")},
			})
		}
		f.Workloads = append(f.Workloads, w)
	}
	for i := range 2 {
		f.Registrations = append(f.Registrations, &fleet.WorkloadRegistration{
			Meta: meta(
				"workload_registrations",
				fmt.Sprintf("r%d", i),
				nil,
			),
			Repo:      "r",
			Branch:    "b",
			Workspace: g.one("", "team"),
		})
	}
	for i := range 1 + g.IntN(2) {
		p := &fleet.SchedulingPolicy{
			Meta:      meta("scheduling_policies", fmt.Sprintf("p%d", i), nil),
			Workspace: g.one("", "", "", "team"),
		}
		if g.IntN(2) == 0 {
			p.ClusterTypes.MatchLabels = map[string]string{"region": g.one("east", "west")}
		}
		if g.IntN(3) == 0 {
			p.DeploymentTargets.MatchExpressions = []metav1.LabelSelectorRequirement{
				{Key: "size", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"large"}},
			}
		}
		f.Policies = append(f.Policies, p)
	}
	return f
}

func meta(attribute, name string, labels map[string]string) fleet.Meta {
	return fleet.Meta{Name: name, Labels: labels, Origin: problem.Origin{Attribute: attribute, Key: name}}
}

type fleetGenerator struct{ *rand.Rand }

func (g *fleetGenerator) one(of ...string) string { return of[g.IntN(len(of))] }

func (g *fleetGenerator) labels() map[string]string {
	labels := map[string]string{"region": g.one("east", "west"), "size": g.one("large", "small", "")}
	if g.IntN(3) == 0 {
		delete(labels, "region")
	}
	if g.IntN(2) == 0 {
		delete(labels, "size")
	}
	return labels
}

// configValues are values of all types. With some of them a template fails or renders nothing.
var configValues = []string{
	"text",
	"",
	"42",
	"'42'",
	"{a: 1, b: {c: [1]}}",
	"[x, {name: n, v: 1}]",
	"[{name: n, w: 2}]",
	"{a: 2, d: e}",
	"{{ .ClusterType }}",
	"{{ .ConfigData.B }}",
	"two\nlines\n",
	"null",
}

func (g *fleetGenerator) data() map[string]string {
	data := map[string]string{}
	for _, k := range []string{"A", "B", "C", "D"} {
		if g.IntN(2) == 0 {
			data[k] = g.one(configValues...)
		}
	}
	return data
}

// site is a place in a fleet whose value may be unknown.
type site struct {
	name   string
	values []string // the values that it may have
	set    func(value string)
}

// sites returns the sites of f, in the same order for equal fleets. Two sites of one object may overlap, such as a key
// of a map and the whole map.
func sites(f *fleet.Fleet) (all []site) {
	add := func(name string, set func(string), values ...string) { all = append(all, site{name, values, set}) }
	inMap := func(name string, m *map[string]string, values ...string) {
		for _, k := range slices.Sorted(maps.Keys(*m)) {
			add(name+"."+k, func(v string) { (*m)[k] = v }, values...)
			add(name+" key "+k, func(v string) {
				value := (*m)[k]
				delete(*m, k)
				(*m)[v] = value
			}, "A", "K", k)
		}
		add(name+" as a whole", func(v string) {
			*m = map[string]string{v: v}
		}, "region", "A")
	}
	templates := []string{"t0", "t1", "t2", "t3", "t4", "t5"}
	for _, ct := range f.ClusterTypes {
		add(ct.Name+".reconciler", func(v string) { ct.Reconciler = v }, templates...)
		add(ct.Name+".namespace_service", func(v string) { ct.NamespaceService = v }, templates...)
		add(ct.Name+".config_type", func(v string) { ct.ConfigType = v }, append(templates, "")...)
		inMap(ct.Name+".labels", &ct.Labels, "east", "large")
	}
	for _, t := range f.Templates {
		add(t.Name+".file_name", func(v string) { t.FileName = v }, "", t.Name+".yaml")
		add(t.Name+".content_type", func(v string) { t.ContentType = v }, "", "yaml", "sh")
		add(
			t.Name+".manifests",
			func(v string) { t.Manifests = []string{v} },
			"",
			"{{ if false }}x{{ end }}",
			"x: {{ .ConfigData.A | default \"y\" }}",
		)
		add(t.Name+".manifests[0]", func(v string) { t.Manifests[0] = v }, "", "other", "{{ .Namespace }}")
	}
	for _, c := range f.Configs {
		name := c.Name
		inMap(name+".data", &c.Data, configValues...)
		inMap(name+".labels", &c.Labels, "east", "c0", "true")
		add(name+".name", func(v string) { c.Name = v }, "0", "zz", "azure-app-config-9")
	}
	for _, s := range f.Secrets {
		add(s.Name+".name", func(v string) { s.Name = v }, "0", "zz")
		inMap(s.Name+".labels", &s.Labels, "east", "c0")
		add(s.Name+".data", func(v string) { s.Data = map[string]fleet.SecretReference{v: {Store: "vault", Key: v}} }, "S",
			"U")
		for _, k := range slices.Sorted(maps.Keys(s.Data)) {
			change := func(change func(r *fleet.SecretReference, v string)) func(v string) {
				return func(v string) {
					r := s.Data[k]
					change(&r, v)
					s.Data[k] = r
				}
			}
			at := fmt.Sprintf("%s.data[%s]", s.Name, k)
			add(at+".store", change(func(r *fleet.SecretReference, v string) { r.Store = v }), "vault", "azure", "other")
			add(at+".key", change(func(r *fleet.SecretReference, v string) { r.Key = v }), "a", "{{ .Namespace }}")
			if k == "P" {
				add(at+".property", change(func(r *fleet.SecretReference, v string) { r.Property = v }), "a", "c")
			}
		}
	}
	for _, s := range f.ConfigSchemas {
		add(s.Name+".schema", func(v string) { s.Schema = v }, "true", `{"required": ["A"]}`)
		inMap(s.Name+".labels", &s.Labels, "east")
	}
	for _, w := range f.Workloads {
		inMap(w.Name+".labels", &w.Labels, "east", "dev-r0")
		for i := range w.Targets {
			t := &w.Targets[i]
			inMap(fmt.Sprintf("%s.%d.manifests", w.Name, i), &t.Manifests, "https://example.com/new", "", "{{ .ClusterType }}")
			inMap(fmt.Sprintf("%s.%d.labels", w.Name, i), &t.Labels, "east", "small")
			add(fmt.Sprintf("%s.%d.environment", w.Name, i), func(v string) { t.Environment = v }, "dev", "stage")
			add(fmt.Sprintf("%s.%d.name", w.Name, i), func(v string) { t.Name = v }, "new")
		}
	}
	for _, r := range f.Registrations {
		add(r.Name+".workspace", func(v string) { r.Workspace = v }, "", "team")
		add(r.Name+".repo", func(v string) { r.Repo = v }, "elsewhere")
		add(r.Name+".name", func(v string) { r.Name = v }, "r0", "r7")
	}
	for _, p := range f.Policies {
		add(p.Name+".workspace", func(v string) { p.Workspace = v }, "", "team")
		add(p.Name+".name", func(v string) { p.Name = v }, "renamed")
		add(
			p.Name+".cluster_types",
			func(v string) { p.ClusterTypes.MatchLabels = map[string]string{"region": v} },
			"east",
			"west",
		)
	}
	return all
}
