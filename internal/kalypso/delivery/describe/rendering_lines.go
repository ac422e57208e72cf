package describe

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// A plan must not read files from the branch: an apply plans again, and must find the same. So the files before a
// change are rendered from the fleet that the private state keeps. They count only if their hash is the hash of the
// folder that was found. Other folders were changed by people or by a wave, or are kept because they fail to render.

// changedLines returns the lines of the rendered files that change, or nil if ctx is done. changed are the changed
// cluster types.
func changedLines(
	ctx context.Context, t *delivery.NextTree, before *delivery.State, changed []inventory.ClusterType,
) *Lines {
	var folders []comparison.Folder
	for _, ct := range changed {
		for _, name := range slices.Concat(ct.Added, ct.Removed, ct.Changed) {
			folders = append(folders, comparison.Folder{ClusterType: ct.Name, Target: name})
		}
	}
	slices.SortFunc(folders, comparison.Folder.Compare)
	found := before.ExistingFolders()
	was, is := filesBefore(ctx, t, before, found), filesAfter(ctx, t, before)
	if ctx.Err() != nil { // the fleets are not whole
		return nil
	}
	files := func(i int, b *Buffers) (old, now FolderFiles, known bool) {
		clusterType, target := folders[i].ClusterType, folders[i].Target
		known = true
		if hash := found.HashOf(clusterType, target); hash != nil {
			old, known = was(clusterType, target, hash, &b.Before)
		}
		if hash := t.Folders.HashOf(clusterType, target); hash != nil && known {
			now, known = is(clusterType, target, hash, &b.After)
		}
		return old, now, known
	}
	return NewLines(ctx, folders, files, diffCommand(t, before), delivery.SecretTexts(t.Args.Fleet))
}

// folderFiles returns the files of the folder of a deployment target with a hash, or false if they are not known.
// The files are in b.
type folderFiles func(
	clusterType, target string, hash []byte, b *render.Buffer,
) (files FolderFiles, known bool)

// filesBefore returns the files of the folders that were found.
func filesBefore(
	ctx context.Context, t *delivery.NextTree, before *delivery.State, found inventory.Folders,
) folderFiles {
	f := before.Inputs.Fleet()
	if f == nil {
		return func(string, string, []byte, *render.Buffer) (files FolderFiles, known bool) {
			return files, false
		}
	}
	prior := priorPlacement(f, before.Decisions, found)
	shown := engine.Prepare(ctx, f, prior)
	whole := shown
	if now := withSecrets(f, t, before); now != f {
		whole = engine.Prepare(ctx, now, prior)
	}
	trusted := !before.Drifted() && !before.Rollout.UnderWay()
	return func(clusterType, target string, hash []byte, b *render.Buffer) (files FolderFiles, known bool) {
		rendered, namespace := whole.RenderTarget(clusterType, target, b)
		is := tree.FilesHash(rendered)
		known = bytes.HasPrefix(is[:], hash)
		if whole != shown {
			rendered, _ = shown.RenderTarget(clusterType, target, b)
		}
		hidden := slices.ContainsFunc(rendered, func(f render.File) bool {
			return bytes.Contains(f.Content, []byte(delivery.HiddenText))
		})
		return FolderFiles{Namespace: namespace, Files: rendered}, known || trusted && hidden
	}
}

// priorPlacement returns the decisions with which a fleet was placed before.
func priorPlacement(f *fleet.Fleet, d placement.Decisions, placed inventory.Folders) (prior placement.PriorResults) {
	if schedule.Places(f) {
		prior = placement.PriorResults{Decisions: d, Placed: placed.Placed()}
	}
	return prior
}

// withSecrets returns the stored fleet with the secrets that did not change since: the state does not contain them. It
// returns f if there are none.
func withSecrets(f *fleet.Fleet, t *delivery.NextTree, before *delivery.State) *fleet.Fleet {
	now := map[string]map[string]string{}
	for _, config := range t.Args.Fleet.Configs {
		now[config.Name] = config.Data
	}
	return f.WithValues(func(config *fleet.Config, key, value string) string {
		if is := now[config.Name][key]; value == delivery.HiddenText && before.Inputs.Contains(config.Name, key, is) {
			return is
		}
		return value
	})
}

// filesAfter returns the files of the folders that the apply leaves. A secret that changes has another text in place of
// it than before.
func filesAfter(ctx context.Context, t *delivery.NextTree, before *delivery.State) folderFiles {
	r := t.Rendered
	shown := r.Tree
	f := delivery.HideSecrets(t.Args.Fleet, func(config *fleet.Config, key string) string {
		if before.Inputs.Contains(config.Name, key, config.Data[key]) {
			return delivery.HiddenText
		}
		return "(secret, changed)"
	})
	if f != t.Args.Fleet {
		shown = engine.Prepare(ctx, f, priorPlacement(f, r.Decisions, r.Folders))
	}
	return func(clusterType, target string, hash []byte, b *render.Buffer) (files FolderFiles, known bool) {
		if !bytes.Equal(r.Folders.HashOf(clusterType, target), hash) {
			return files, false
		}
		rendered, namespace := shown.RenderTarget(clusterType, target, b)
		return FolderFiles{Namespace: namespace, Files: rendered},
			!slices.ContainsFunc(rendered, func(f render.File) bool { return f.Unknown })
	}
}

// diffCommand returns the command that shows the changes of a folder after the apply, or nil if there is none.
func diffCommand(t *delivery.NextTree, before *delivery.State) func(folder string) string {
	base := cmp.Or(before.Base, before.LastRead.Head)
	if base == "" || t.Args.Strategy == destination.None || !before.Destination.SameBranch(t.Args.Destination) {
		return nil
	}
	head := printable.ShellWord(t.Args.Destination.Branch)
	if t.Args.Strategy == destination.PullRequest { // of its branch
		head = "HEAD"
	}
	return func(folder string) string {
		return fmt.Sprintf("git diff %.12s %s -- %s", base, head, printable.ShellWord(t.Args.Destination.Join(folder)))
	}
}
