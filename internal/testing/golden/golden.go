// Package golden gives tests the golden fleets: inputs with the tree that each is rendered to.
package golden

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// Fleet is a golden fleet: one environment.
type Fleet struct {
	Name    string
	Summary Summary
	// Files by path: the documents of its objects, what the GitOps branch held before, and the tree that it is rendered
	// to, which is empty where only its hash is known.
	Objects, Existing, Tree map[string]string
}

// Summary is what is expected of the rendering, beside the bytes.
type Summary struct {
	Environment     string        `json:"environment"`
	Assignments     *[]Assignment `json:"assignments"`      // nil: their number alone is known
	AssignmentCount *int          `json:"assignment_count"` // nil: the assignments are listed
	TreeSHA256      string        `json:"tree_sha256"`      // as [SHA256] makes it
}

// Assignment is a deployment target on a cluster type.
type Assignment struct {
	ClusterType      string `json:"clusterType"`
	DeploymentTarget string `json:"deploymentTarget"`
}

// All are the golden fleets, sorted by name: those of this repo, and those that the folder in [Variable] adds.
func All(t testing.TB) []*Fleet {
	t.Helper()
	all, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// WithTree are those of [All] of which each file of the tree is known.
func WithTree(t testing.TB) []*Fleet {
	t.Helper()
	return slices.DeleteFunc(All(t), func(f *Fleet) bool { return len(f.Tree) == 0 })
}

// Named is the golden fleet of this name.
func Named(t testing.TB, name string) *Fleet {
	t.Helper()
	f, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Promoted is the promoted commit; empty where there is none.
func (f *Fleet) Promoted() (string, error) {
	var base struct {
		Spec struct {
			Commit string `json:"commit"`
		} `json:"spec"`
	}
	err := yaml.Unmarshal([]byte(f.Objects["base-repo.yaml"]), &base)
	return base.Spec.Commit, err
}

// FluxLabels are the labels that Flux gave to the objects of a document in the operator's cluster; nil where it gave
// none.
func (f *Fleet) FluxLabels(path string) map[string]string {
	below, ok := strings.CutPrefix(path, "workloads/")
	if !ok {
		return nil
	}
	registration, _, _ := strings.Cut(below, "/")
	return map[string]string{
		fleet.FluxOwnerLabel:     f.Summary.Environment + "-" + registration,
		fleet.FluxNamespaceLabel: "flux-system",
	}
}

// Read reads the objects, the Workloads with the labels that Flux gave them in the operator's cluster.
func (f *Fleet) Read() (*fleet.Fleet, error) {
	read := &fleet.Fleet{Environment: f.Summary.Environment}
	for _, path := range slices.Sorted(maps.Keys(f.Objects)) {
		objects, _, problems := fleet.ParseYAML(fleet.Origin{Attribute: "manifests", Key: path}, f.Objects[path])
		if err := problems.Err(); err != nil {
			return nil, fmt.Errorf("golden fleet %s: %w", f.Name, err)
		}
		if labels := f.FluxLabels(path); labels != nil {
			for _, o := range objects {
				m := o.Metadata()
				if m.Labels == nil {
					m.Labels = map[string]string{}
				}
				maps.Copy(m.Labels, labels)
			}
		}
		read.Add(objects...)
	}
	return read, nil
}

// SHA256 is the hash of a tree's files: over path, NUL, the hexadecimal SHA-256 of the content and LF of each, in the
// byte order of the paths.
func SHA256(files map[string]string) string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%s\x00%x\n", path, sha256.Sum256([]byte(files[path])))
	}
	return hex.EncodeToString(h.Sum(nil))
}
