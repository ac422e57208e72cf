package source

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// ignoreFile lists, in the syntax of .gitignore, the files of its folder to leave out.
const ignoreFile = ".sourceignore"

// entry is a path that is not a folder.
type entry struct {
	path string // from the root
	mode filemode.FileMode
}

// isFile reports whether a mode is that of a file, and not of a symbolic link.
func isFile(mode filemode.FileMode) bool { return mode.IsFile() && mode != filemode.Symlink }

// isListed reports whether an entry may belong to a listing: it is a YAML file, a link or a submodule.
func isListed(e entry) bool {
	return !isFile(e.mode) || path.Ext(e.path) == ".yaml" || path.Ext(e.path) == ".yml"
}

// maxIgnoreWork bounds the work to match paths with the patterns of ignore files: the product of the bytes of both. A
// million files of a repo with 100 patterns stay below it.
const maxIgnoreWork = 1 << 35

var errIgnoreWork = errors.New("its " + ignoreFile + " files have too many patterns for so many files")

// checkIgnoreWork returns an error if it would take too long to match the entries with the ignore files.
func checkIgnoreWork(entries []entry, ignores map[string]string) error {
	paths, patterns := int64(0), int64(0)
	for _, e := range entries {
		paths += int64(len(e.path))
	}
	for _, text := range ignores {
		patterns += int64(len(text))
		if paths > 0 && patterns > maxIgnoreWork/paths {
			return errIgnoreWork
		}
	}
	return nil
}

// listing sorts the files of a folder into those to read and those to skip.
type listing struct {
	files          []string // of YAML, sorted
	links, modules []string // not followed
	kustomizations []string // not applied
	sameButCase    []string // paths of files and folders that differ from an earlier one by letter case alone
}

// newListing lists the entries below folder, a clean path. ignores maps paths to the .sourceignore files there,
// including those above the folder.
//
// It follows the rules of Flux, which reads the files for the operator. If several patterns match a file, the last one
// decides, so a pattern can include a file of an ignored folder again. Links and submodules are not followed. Files of
// CI systems are left out.
func newListing(folder string, entries []entry, ignores map[string]string) listing {
	ignored := matcher(ignores)
	var l listing
	for _, e := range entries {
		below := e.path
		if folder != "." {
			below = strings.TrimPrefix(e.path, folder+"/")
		}
		names := strings.Split(e.path, "/")
		if hidden(below) || !isListed(e) || ignored.Match(names, false) {
			continue
		}
		switch name := path.Base(e.path); {
		case e.mode == filemode.Symlink:
			l.links = append(l.links, e.path)
		case e.mode == filemode.Submodule:
			l.modules = append(l.modules, e.path)
		case slices.Contains(ciFiles, name):
		case slices.Contains(kustomizations, name):
			l.kustomizations = append(l.kustomizations, e.path)
		default:
			l.files = append(l.files, e.path)
		}
	}
	slices.Sort(l.files)
	l.sameButCase = sameButCase(l.files)
	return l
}

// sameButCase returns pairs of paths that differ by letter case alone, of sorted files and of their folders. File
// systems that do not distinguish case keep only one file of such a pair.
func sameButCase(files []string) (pairs []string) {
	seen := map[string]string{}
	for _, file := range files {
		for at := file; at != "."; at = path.Dir(at) {
			folded := strings.ToLower(at)
			first, known := seen[folded]
			if known && first == at {
				break // the folders above it are known, too
			}
			if !known {
				seen[folded] = at
			} else if path.Dir(first) == path.Dir(at) { // else the folders differ
				pairs = append(pairs, first+" and "+at)
			}
		}
	}
	slices.Sort(pairs)
	return slices.Compact(pairs)
}

var (
	// ciFiles lists the settings of CI systems and other tools, which Flux always ignores.
	ciFiles = []string{
		".travis.yml", ".gitlab-ci.yml", "appveyor.yml", ".drone.yml", "cloudbuild.yaml", "codeship-services.yml",
		"codeship-steps.yml", ".goreleaser.yml", ".sops.yaml", ".flux.yaml",
	}
	kustomizations = []string{"kustomization.yaml", "kustomization.yml"}
)

// hidden reports whether a file is in a dot folder.
func hidden(file string) bool {
	return strings.Contains(path.Dir("/"+file), "/.")
}

// matcher puts the patterns of a folder before the patterns of its subfolders, so the pattern nearest to a file
// decides.
func matcher(ignores map[string]string) gitignore.Matcher {
	var patterns []gitignore.Pattern
	order := sortedKeys(ignores)
	slices.SortStableFunc(order, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	for _, at := range order {
		var domain []string
		if dir := path.Dir(at); dir != "." {
			domain = strings.Split(dir, "/")
		}
		for line := range strings.Lines(ignores[at]) {
			line = strings.TrimRight(line, "\r\n")
			if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
				continue
			}
			patterns = append(patterns, gitignore.ParsePattern(line, domain))
		}
	}
	return gitignore.NewMatcher(patterns)
}

// ignoreFilePaths returns the paths where a .sourceignore applies to a folder: in it and above it.
func ignoreFilePaths(folder string) []string {
	paths := []string{path.Join(folder, ignoreFile)}
	for at := folder; at != "."; at = path.Dir(at) {
		paths = append(paths, path.Join(path.Dir(at), ignoreFile))
	}
	return paths
}
