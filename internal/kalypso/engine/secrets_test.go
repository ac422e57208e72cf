package engine_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/apiserver"
)

const platformSecret = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: PlatformSecret\n"

// TestExternalSecret renders all forms of references with the built-in template, and validates each result with the
// schema of External Secrets.
func TestExternalSecret(t *testing.T) {
	t.Parallel()
	schema := externalSecretSchema(t)
	const head = `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: platform-secret
  namespace: dev-large-app-test
spec:
  secretStoreRef:
    name: %
    kind: ClusterSecretStore
  data:
`
	for name, tt := range map[string]struct{ data, store, want string }{
		"a key": {"TOKEN: {store: vault, key: app/token}", "vault", `    - secretKey: TOKEN
      remoteRef:
        key: app/token
`},
		"a property": {"TOKEN: {store: vault, key: app, property: token.value}", "vault", `    - secretKey: TOKEN
      remoteRef:
        key: app
        property: token.value
`},
		"several keys of a store, sorted": {"b.c: {store: vault, key: two}\n    A_1: {store: vault, key: one}", "vault",
			`    - secretKey: A_1
      remoteRef:
        key: one
    - secretKey: b.c
      remoteRef:
        key: two
`},
		"two stores with different numbers of keys": {
			"A: {store: aws, key: a}\n    B: {store: vault, key: b, property: p}\n    C: {store: " +
				"vault, key: c}", "vault",
			`    - secretKey: A
      remoteRef:
        key: a
      sourceRef:
        storeRef:
          name: aws
          kind: ClusterSecretStore
    - secretKey: B
      remoteRef:
        key: b
        property: p
    - secretKey: C
      remoteRef:
        key: c
`},
		"two stores with equal numbers of keys": {
			"A: {store: vault.b, key: a}\n    B: {store: vault.a, key: b}", "vault.a",
			`    - secretKey: A
      remoteRef:
        key: a
      sourceRef:
        storeRef:
          name: vault.b
          kind: ClusterSecretStore
    - secretKey: B
      remoteRef:
        key: b
`},
		"text that YAML would read as another type": {`A: {store: "123", key: "true", property: "- x: #1"}`, `"123"`,
			`    - secretKey: A
      remoteRef:
        key: "true"
        property: '- x: #1'
`},
		"a key with a template": {`A: {store: vault, key: "{{ .Environment }}/{{ .Workload }}"}`, "vault", `    - secretKey: A
      remoteRef:
        key: 'dev/app'
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := read(t, "dev", base, platformSecret+"metadata: {name: s}\nspec:\n  data:\n    "+tt.data+"\n")
			built, problems := build(t.Context(), f)
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			got := filesOf(built)["large/app-test/platform-secret.yaml"]
			if diff := cmp.Diff(strings.Replace(head, "%", tt.store, 1)+tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var object any
			if err := yaml.Unmarshal([]byte(got), &object); err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(object); err != nil {
				t.Errorf("External Secrets refuses it: %v\n%s", err, got)
			}
		})
	}
}

// externalSecretSchema returns the schema of External Secrets for external-secrets.io/v1, from its Go module. The
// returned schema does not allow additional fields, as the API server with strict validation.
func externalSecretSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(apiserver.CRDs(t, apiserver.ExternalSecrets)[0])
	if err != nil {
		t.Fatal(err)
	}
	var definition struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &definition); err != nil {
		t.Fatal(err)
	}
	versions := definition.Spec.Versions
	i := slices.IndexFunc(versions, func(v struct {
		Name   string
		Schema struct {
			OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
		}
	}) bool {
		return v.Name == "v1"
	})
	if i < 0 {
		t.Fatal("there is no version v1")
	}
	root := versions[i].Schema.OpenAPIV3Schema
	properties, _ := root["properties"].(map[string]any)
	properties["metadata"] = map[string]any{"type": "object"}
	forbidAdditional(root)
	c := jsonschema.NewCompiler()
	if err := c.AddResource("externalsecret.json", root); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("externalsecret.json")
	if err != nil {
		t.Fatal(err)
	}
	if schema.Validate(map[string]any{"spec": map[string]any{"data": []any{map[string]any{"secretKey": "A"}}}}) == nil ||
		schema.Validate(map[string]any{"spec": map[string]any{"dta": []any{}}}) == nil {
		t.Fatal("the schema refuses nothing")
	}
	return schema
}

// forbidAdditional forbids additional properties in each object of a schema that lists its properties.
func forbidAdditional(schema any) {
	switch schema := schema.(type) {
	case map[string]any:
		for _, part := range schema {
			forbidAdditional(part)
		}
		if properties, ok := schema["properties"].(map[string]any); ok && properties["metadata"] == nil {
			schema["additionalProperties"] = false
		}
	case []any:
		for _, part := range schema {
			forbidAdditional(part)
		}
	}
}

// TestSecretFiles: an assignment has a file of secrets if it has references and the cluster type's template renders
// them to text.
func TestSecretFiles(t *testing.T) {
	t.Parallel()
	const own = `apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: s}
spec:
  type: secret
  contentType: sh
  manifests:
  - "{{ range $k, $r := .SecretData }}{{ if ne $r.store \"none\" }}\
    {{ $k }}={{ $r.store }}/{{ $r.key }}{{ with $r.property }}#{{ . }}{{ end }}\n{{ end }}{{ end }}"
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: small}
spec: {reconciler: r, namespaceService: "n", secretType: s}
`
	secret := func(labels, data string) string {
		return platformSecret + "metadata: {name: s, labels: {" + labels + "}}\nspec: {data: {" + data + "}}\n"
	}
	for name, tt := range map[string]struct {
		input string
		want  map[string]string
	}{
		"no secret":                  {"", nil},
		"a secret without data":      {secret("", ""), nil},
		"a secret of another region": {secret("region: north", "A: {store: v, key: k}"), nil},
		"a secret of its cluster type": {secret("cluster-type: small",
			"A: {store: v, key: k}, B: {store: v, key: k, property: p}"), map[string]string{"small": "A=v/k\nB=v/k#p\n"}},
		"a template that renders nothing": {secret("cluster-type: small", "A: {store: none, key: k}"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			built, problems := build(t.Context(), read(t, "dev", base, own, tt.input))
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			var got map[string]string
			for path, content := range filesOf(built) {
				clusterType, file, _ := strings.Cut(path, "/app-test/")
				if strings.HasPrefix(file, "platform-secret") {
					got = map[string]string{clusterType: content}
					if file != "platform-secret.sh" {
						t.Errorf("the file is %s", file)
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSecretsOnlyInTheirFile: templates of other types can't read secrets. Those that print, hash or encode all of
// their data render the same files with and without a secret.
func TestSecretsOnlyInTheirFile(t *testing.T) {
	t.Parallel()
	const all = `apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: c}
spec:
  type: config
  manifests: ["{{ . }}", "{{ printf \"%v %+v\" . . }}", "{{ hash . }}", "{{ toYaml . }}", "{{ toJson . }}",
    "{{ toString . | sha256sum }}"]
`
	const dataBefore = "{app-test dev-large-app-test dev  app map[purpose:test team:blue workload:app workspace:] " +
		"map[branch:main path:./test repo:https://example.com/app] large map[]}"
	objects := strings.Split(base, "---\n")
	without := strings.Join(slices.DeleteFunc(objects, func(o string) bool {
		return strings.Contains(o,
			"metadata: {name: c}")
	}), "---\n")
	var before string
	for _, secret := range []string{"", platformSecret + "metadata: {name: s}\nspec: {data: {A: {store: v, key: k}}}\n"} {
		built, problems := build(t.Context(), read(t, "dev", without, all, secret))
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		got := filesOf(built)["large/app-test/platform-config.yaml"]
		if before == "" {
			before = got
		}
		if diff := cmp.Diff(before, got); diff != "" || !strings.HasPrefix(got, dataBefore+"\n") {
			t.Errorf("(-want +got):\n%s\n%s", diff, got)
		}
	}
}

// TestUnknownReferences: unknown parts of a secret make the files that depend on them unknown.
func TestUnknownReferences(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set  func(s *fleet.Secret)
		want string // the name of the unknown file, with ? if it may be absent
	}{
		"an unknown key": {func(s *fleet.Secret) {
			s.Data["A"] = fleet.SecretReference{Store: "v", Key: unknown.Text}
		}, "platform-secret.yaml"},
		"an unknown name": {func(s *fleet.Secret) { s.Name = unknown.Text }, "platform-secret.yaml?"},
		"an unknown label": {func(s *fleet.Secret) { s.Labels = map[string]string{"size": unknown.Text} },
			"platform-secret.yaml?"},
		"unknown data": {func(s *fleet.Secret) { s.Data = map[string]fleet.SecretReference{unknown.Text: {}} },
			"platform-secret.yaml?"},
		"an unknown key in a secret that does not apply": {func(s *fleet.Secret) {
			s.Labels = map[string]string{"size": "small"}
			s.Data["A"] = fleet.SecretReference{Store: "v", Key: unknown.Text}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := read(t, "dev", base, platformSecret+"metadata: {name: s}\nspec: {data: {A: {store: v, key: k}}}\n")
			tt.set(f.Secrets[0])
			built, problems := build(t.Context(), f)
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			got := ""
			for file := range built.TargetFiles(0, 0) {
				if file.Unknown {
					got += file.Path
				}
				if file.MayBeAbsent {
					got += "?"
				}
			}
			if got != tt.want {
				t.Errorf("unknown: %q, want %q", got, tt.want)
			}
		})
	}
}
