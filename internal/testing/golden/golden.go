// Package golden provides the golden fleets for tests: inputs with their expected trees.
package golden

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// Fleet is a golden fleet of one environment.
type Fleet struct {
	Name    string
	Summary Summary
	// Objects are the files with the documents of the fleet's objects, Existing the files on the GitOps branch before the
	// rendering, and Tree the files of the expected tree, each by path. Tree is empty if only its hash is known.
	Objects, Existing, Tree map[string]string
}

// Summary is the expected result besides the files.
type Summary struct {
	Environment     string        `json:"environment"`
	Assignments     *[]Assignment `json:"assignments"`      // nil if only the number is known
	AssignmentCount *int          `json:"assignment_count"` // nil if Assignments lists them
	TreeSHA256      string        `json:"tree_sha256"`      // see [SHA256]
}

// Assignment assigns a deployment target to a cluster type.
type Assignment struct {
	ClusterType      string `json:"clusterType"`
	DeploymentTarget string `json:"deploymentTarget"`
}

// All returns the golden fleets of this repo and of the folder that [Variable] names, sorted by name.
func All(t testing.TB) []*Fleet {
	t.Helper()
	all, err := read()
	must.Succeed(t, err)
	return all
}

// WithTree returns the fleets of [All] that have the files of their tree, and not only its hash.
func WithTree(t testing.TB) []*Fleet {
	t.Helper()
	return slices.DeleteFunc(All(t), func(f *Fleet) bool { return len(f.Tree) == 0 })
}

// Named returns the golden fleet with a name.
func Named(t testing.TB, name string) *Fleet {
	t.Helper()
	f, err := Find(name)
	must.Succeed(t, err)
	return f
}

// Promoted returns the promoted commit, or "".
func (f *Fleet) Promoted() string {
	var base struct {
		Spec struct {
			Commit string `json:"commit"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(f.Objects["base-repo.yaml"]), &base); err != nil {
		panic(err)
	}
	return base.Spec.Commit
}

// Read parses the objects.
func (f *Fleet) Read() (*fleet.Fleet, error) {
	read := &fleet.Fleet{Environment: f.Summary.Environment}
	for _, path := range slices.Sorted(maps.Keys(f.Objects)) {
		objects, err := f.Parse(path)
		if err != nil {
			return nil, err
		}
		read.Add(objects...)
	}
	return read, nil
}

// Parse parses the objects of a file. Workloads get the labels that Flux added to them in the operator's cluster.
func (f *Fleet) Parse(path string) ([]fleet.Object, error) {
	from := problem.Origin{Attribute: "manifests", Key: path}
	objects, _, problems := fleetyaml.Parse(context.Background(), from, f.Objects[path])
	if err := problems.Err(); err != nil {
		return nil, fmt.Errorf("golden fleet %s: %w", f.Name, err)
	}
	if below, ofWorkloads := strings.CutPrefix(path, Workloads); ofWorkloads {
		registration, _, _ := strings.Cut(below, "/")
		for _, o := range objects {
			m := o.Metadata()
			m.Labels = maps.Collect(maps.All(m.Labels)) // may be nil
			m.Labels[fleet.FluxOwnerLabel] = f.Summary.Environment + "-" + registration
			m.Labels[fleet.FluxNamespaceLabel] = "flux-system"
		}
	}
	return objects, nil
}

// Workloads is the folder of the Workloads, which Flux applied in the operator's cluster.
const Workloads = "workloads/"

// SHA256 returns the hash of the files of a tree. It hashes a line for each file, in byte order of the paths: the path,
// NUL, the hexadecimal SHA-256 of the content, and LF.
func SHA256(files map[string]string) string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%s\x00%x\n", path, sha256.Sum256([]byte(files[path])))
	}
	return hex.EncodeToString(h.Sum(nil))
}
