package remote

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/objects"
)

// differences lists the differences between the old and new files of a target that matter to a reviewer: renamed files,
// removed files, changed namespaces, and other kinds of reconcilers.
func differences(was, is map[string][]byte) (told []string) {
	pairs, gone := pairFiles(was, is)
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		if before := pairs[name]; before != name {
			told = append(told, fmt.Sprintf("renames %s → %s", before, name))
		}
		if stem(name) == render.ReconcilerFile {
			old, current := kindsOf(was[pairs[name]]), kindsOf(is[name])
			if len(old) > 0 && len(current) > 0 && !slices.Equal(old, current) {
				told = append(told, "reconciler "+strings.Join(old, ", ")+" → "+strings.Join(current, ", "))
			}
		}
	}
	for _, name := range gone {
		told = append(told, "removes "+name)
	}
	old, current := namespacesOf(was), namespacesOf(is)
	if len(old) > 0 && len(current) > 0 && !slices.Equal(old, current) {
		told = append(told, fmt.Sprintf("namespace %s → %s", strings.Join(old, ", "), strings.Join(current, ", ")))
	}
	return told
}

// pairFiles finds the previous version of each file: by the same name, else the same content, else the same name with
// another extension, else the same kinds of documents. gone lists previous files without a new version.
func pairFiles(was, is map[string][]byte) (pairs map[string]string, gone []string) {
	pairs = map[string]string{}
	left := maps.Clone(was)
	for _, same := range []func(old, current string) bool{
		func(old, current string) bool { return old == current },
		func(old, current string) bool { return len(was[old]) > 0 && bytes.Equal(was[old], is[current]) },
		func(old, current string) bool { return stem(old) == stem(current) },
		func(old, current string) bool {
			kinds := kindsOf(was[old])
			return len(kinds) > 0 && slices.Equal(kinds, kindsOf(is[current]))
		},
	} {
		for _, current := range slices.Sorted(maps.Keys(is)) {
			if _, paired := pairs[current]; paired {
				continue
			}
			for _, old := range slices.Sorted(maps.Keys(left)) {
				if _, stays := is[old]; same(old, current) && (old == current || !stays) {
					pairs[current] = old
					delete(left, old)
					break
				}
			}
		}
	}
	return pairs, slices.Sorted(maps.Keys(left))
}

func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// kindsOf returns the kinds of the objects of a file, sorted.
func kindsOf(content []byte) (kinds []string) {
	for _, o := range objects.Scan(nil, content) {
		if len(o.Kind) > 0 {
			kinds = append(kinds, string(o.Kind))
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// namespacesOf returns the names of the Namespaces in files, sorted.
func namespacesOf(files map[string][]byte) (names []string) {
	for _, content := range files {
		for _, o := range objects.Scan(nil, content) {
			if string(o.Kind) == "Namespace" {
				names = append(names, string(o.Name))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
