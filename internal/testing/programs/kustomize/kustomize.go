// Package kustomize builds folders as a cluster with Flux does, with the Kustomize program that tools/kustomize pins.
// Kustomize runs as a program, since tests that imported its packages would take long to link.
package kustomize

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// Build builds the files of a folder and returns the objects. Paths are relative to the folder. Like Flux's
// kustomize-controller, it lists all YAML files below the folder in a kustomization.yaml. If Kustomize fails, failed is
// its output.
func Build(t testing.TB, files map[string]string) (objects []map[string]any, failed string) {
	t.Helper()
	program := programs.Built(t, "kustomize")
	dir := t.TempDir()
	var resources []string
	for name, content := range files {
		programs.WriteFile(t, filepath.Join(dir, name), content)
		if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
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
	programs.WriteFile(t, filepath.Join(dir, "kustomization.yaml"), string(text))
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, "build", dir) //nolint:gosec // a program of the tests
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, strings.TrimSpace(stderr.String() + "\n" + err.Error())
	}
	for document := range strings.SplitSeq("\n"+stdout.String(), "\n---\n") {
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
