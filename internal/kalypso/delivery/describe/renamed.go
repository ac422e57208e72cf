package describe

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
)

// TargetRename is a deployment target that has another name now, since it or its workload was renamed. Its files are
// equal but for names. Clusters see no rename: they delete the old namespaces, with all data in them.
type TargetRename struct {
	Old, New   string
	Namespaces []string // the old ones, by cluster type
}

// maxRenames limits the names that go, and the names that come, of which pairs are compared.
const maxRenames = 100

// TargetRenames returns the deployment targets of the folders before that have another name now, by their old names. A
// target counts as renamed only if its new files, with the old names in them, are the old files.
func TargetRenames(t *delivery.NextTree, before inventory.Folders) (all []TargetRename) {
	if t.Rendered.Tree == nil || t.Rendered.Tree.Schedule == nil || len(before) == 0 {
		return nil
	}
	was, is := before.Placed(), t.Target().Placed()
	inFleet := map[string]bool{}
	for _, target := range t.Rendered.Tree.Schedule.Unscheduled {
		inFleet[target.Name] = true
	}
	gone := namesWithout(was, is)
	gone = slices.DeleteFunc(gone, func(name string) bool { return inFleet[name] })
	added := namesWithout(is, was)
	for _, old := range gone[:min(len(gone), maxRenames)] {
		for i, name := range added[:min(len(added), maxRenames)] {
			if !slices.Equal(was[old], is[name]) {
				continue
			}
			if namespaces, same := sameFiles(t.Rendered.Tree, before, was[old], old, name); same {
				all = append(all, TargetRename{Old: old, New: name, Namespaces: namespaces})
				added = slices.Delete(added, i, i+1)
				break
			}
		}
	}
	return all
}

// namesWithout returns the sorted names that are in all, and not in others.
func namesWithout(all, others map[string][]string) (names []string) {
	for name := range all {
		if _, both := others[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sameFiles reports whether a target's files on the cluster types are those that the folders before have below its old
// name, once the old names are put back into them. It returns the old namespaces.
func sameFiles(
	rendered *tree.Tree, before inventory.Folders, clusterTypes []string, old, name string,
) (namespaces []string, same bool) {
	var b render.Buffer
	for _, ct := range clusterTypes {
		i, n, ok := rendered.Assignment(ct, name)
		if !ok {
			return nil, false
		}
		rename := renaming(name, old, rendered.Schedule.Placements[i].Assignments[n].Target.Workload.Name)
		b.Reset()
		files, namespace := rendered.RenderTarget(ct, name, &b)
		files = slices.Clone(files)
		for k := range files {
			if files[k].Unknown {
				return nil, false
			}
			files[k].Content = rename(files[k].Content)
		}
		hash := tree.FilesHash(files)
		if !bytes.HasPrefix(hash[:], before.HashOf(ct, old)) {
			return nil, false
		}
		namespaces = append(namespaces, string(rename([]byte(namespace))))
	}
	return namespaces, true
}

// renaming returns a function that replaces the name of a target by its old name. If the name of the workload is a part
// of the name, and only this part differs, the function replaces the workload's name too.
func renaming(name, old, workload string) func([]byte) []byte {
	oldWorkload := workload
	if before, after, found := strings.Cut(name, workload); found && len(old) > len(before)+len(after) &&
		strings.HasPrefix(old, before) && strings.HasSuffix(old, after) {
		oldWorkload = old[len(before) : len(old)-len(after)]
	}
	names := regexp.MustCompile(regexp.QuoteMeta(name) + `|\b` + regexp.QuoteMeta(workload) + `\b`)
	return func(text []byte) []byte {
		return names.ReplaceAllFunc(text, func(found []byte) []byte {
			if string(found) == name {
				return []byte(old)
			}
			return []byte(oldWorkload)
		})
	}
}
