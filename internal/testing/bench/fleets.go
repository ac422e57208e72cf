package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
)

// The measured fleets: two golden fleets, and a tenth of large-10k.
const (
	fleet1k   = "large-1k"
	fleet10k  = "large-10k"
	fleet100k = "large-100k"
)

// load reads a fleet. It sorts the objects, so that a change of a value changes only one line of the YAML. large-1k is
// large-10k with every tenth cluster type.
func load(name string) *fleet.Fleet {
	if name != fleet1k {
		f := must(must(golden.Find(name)).Read())
		f.Sort()
		return f
	}
	f := load(fleet10k)
	all := f.ClusterTypes
	f.ClusterTypes = nil
	for tenth := range slices.Chunk(all, 10) {
		f.ClusterTypes = append(f.ClusterTypes, tenth[0])
	}
	return f
}

// build schedules and renders a fleet.
func build(f *fleet.Fleet) *tree.Tree {
	made, problems := engine.Run(context.Background(), f, engine.Options{})
	check(problems.Err())
	return made.Tree
}

// ofOneClusterType, ofOneWorkload and ofAll select configs by their scope.
func ofOneClusterType(c *fleet.Config) bool {
	return len(c.Labels) == 2 && c.IsPlatformConfig() && c.Labels[fleet.ClusterTypeLabel] != ""
}

func ofOneWorkload(c *fleet.Config) bool {
	return len(c.Labels) == 2 && c.IsPlatformConfig() && c.Labels[fleet.WorkloadLabel] != ""
}

func ofAll(c *fleet.Config) bool { return len(c.Labels) == 1 && c.IsPlatformConfig() }

// changed returns the fleet with the value BENCH in the first config that the function which selects.
func changed(f *fleet.Fleet, which func(*fleet.Config) bool, value string) *fleet.Fleet {
	i := slices.IndexFunc(f.Configs, which)
	edited := *f.Configs[i]
	edited.Data = maps.Clone(edited.Data)
	edited.Data["BENCH"] = value
	other := *f
	other.Configs = slices.Clone(f.Configs)
	other.Configs[i] = &edited
	return &other
}

// write writes the fleet's objects as YAML, one file per kind.
func (r *root) write(f *fleet.Fleet) {
	dir := filepath.Join(r.dir, "fleet")
	check(os.MkdirAll(dir, 0o750))
	texts := map[fleet.Kind]*strings.Builder{}
	for _, o := range f.Objects() {
		if texts[o.Kind()] == nil {
			texts[o.Kind()] = &strings.Builder{}
		}
		texts[o.Kind()].WriteString("---\n" + must(fleetyaml.Marshal(o)))
	}
	for kind, text := range texts {
		check(os.WriteFile(filepath.Join(dir, string(kind)+".yaml"), []byte(text.String()), 0o600))
	}
}
