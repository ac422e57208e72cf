package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The parts of the spec of an ExternalSecret of external-secrets.io/v1, in the order in which they are written.
type (
	externalSecret struct {
		SecretStoreRef storeRef             `yaml:"secretStoreRef"`
		Data           []externalSecretData `yaml:"data"`
	}
	externalSecretData struct {
		SecretKey string     `yaml:"secretKey"`
		RemoteRef remoteRef  `yaml:"remoteRef"`
		SourceRef *sourceRef `yaml:"sourceRef,omitempty"`
	}
	remoteRef struct {
		Key      string `yaml:"key"`
		Property string `yaml:"property,omitempty"`
	}
	sourceRef struct {
		StoreRef storeRef `yaml:"storeRef"`
	}
	storeRef struct {
		Name string `yaml:"name"`
		Kind string `yaml:"kind"`
	}
)

func clusterSecretStore(name string) storeRef { return storeRef{name, "ClusterSecretStore"} }

// externalSecretSpec returns the spec of an ExternalSecret with these references, as YAML without the last newline. The
// spec names the store that most references use, or the first of several such stores by name. References to another
// store name it themselves.
func externalSecretSpec(references map[string]any) (string, error) {
	uses := map[string]int{}
	spec := externalSecret{Data: make([]externalSecretData, 0, len(references))}
	for _, k := range slices.Sorted(maps.Keys(references)) {
		reference, ok := references[k].(map[string]any)
		store, _ := reference["store"].(string)
		key, _ := reference["key"].(string)
		property, _ := reference["property"].(string)
		if !ok || store == "" || key == "" {
			return "", fmt.Errorf("externalSecretSpec: the reference %q lacks its store or its key", k)
		}
		uses[store]++
		of := &sourceRef{clusterSecretStore(store)}
		spec.Data = append(spec.Data, externalSecretData{k, remoteRef{key, property}, of})
	}
	if len(uses) == 0 {
		return "", fmt.Errorf("externalSecretSpec: there are no references")
	}
	main := slices.MinFunc(slices.Collect(maps.Keys(uses)), func(a, b string) int {
		return cmp.Or(cmp.Compare(uses[b], uses[a]), cmp.Compare(a, b))
	})
	spec.SecretStoreRef = clusterSecretStore(main)
	for i := range spec.Data {
		if spec.Data[i].SourceRef.StoreRef.Name == main {
			spec.Data[i].SourceRef = nil
		}
	}
	var text strings.Builder
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	err := e.Encode(spec)
	return strings.TrimSuffix(text.String(), "\n"), err
}
