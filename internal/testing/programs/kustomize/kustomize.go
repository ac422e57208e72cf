// Package kustomize builds folders as a cluster with Flux does, with the kustomize library that tools/kustomize pins.
package kustomize

import (
	"encoding/json"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// builder is the running program of tools/kustomize. It builds one folder at a time.
type builder struct {
	lock sync.Mutex
	in   *json.Encoder
	out  *json.Decoder
}

// start starts the program. It ends when the process of the tests does.
var start = sync.OnceValues(func() (*builder, error) {
	program, err := programs.BuildTool("kustomize")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program) //nolint:noctx // it ends with its input
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &builder{in: json.NewEncoder(in), out: json.NewDecoder(out)}, cmd.Start()
})

// Build builds the files of a folder and returns the objects. Paths are relative to the folder. Like Flux's
// kustomize-controller, it lists all YAML files below the folder in a kustomization.yaml. If Kustomize fails, failed is
// its error.
func Build(t testing.TB, files map[string]string) (objects []map[string]any, failed string) {
	t.Helper()
	folder := map[string][]byte{}
	var resources []string
	for name, content := range files {
		folder[name] = []byte(content)
		if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
			resources = append(resources, name)
		}
	}
	if len(resources) == 0 { // Flux applies an empty folder, but Kustomize refuses it
		return nil, ""
	}
	slices.Sort(resources)
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources,
	})
	must.Succeed(t, err)
	folder["kustomization.yaml"] = text
	b, err := start()
	must.Succeed(t, err)
	b.lock.Lock()
	defer b.lock.Unlock()
	must.Succeed(t, b.in.Encode(folder))
	var built struct{ Objects, Failed string }
	must.Succeed(t, b.out.Decode(&built))
	if built.Failed != "" {
		return nil, built.Failed
	}
	for document := range strings.SplitSeq("\n"+built.Objects, "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
	return objects, ""
}
