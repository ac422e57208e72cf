package source

import (
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

// listing sorts the files of a folder into those to read and those to skip.
type listing struct {
	files          []string // of YAML, sorted
	links, modules []string // not followed
	kustomizations []string // not applied
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
		if hidden(below) || ignored.Match(names, false) {
			continue
		}
		switch name := path.Base(e.path); {
		case e.mode == filemode.Symlink:
			l.links = append(l.links, e.path)
		case e.mode == filemode.Submodule:
			l.modules = append(l.modules, e.path)
		case path.Ext(name) != ".yaml" && path.Ext(name) != ".yml" || slices.Contains(ciFiles, name):
		case slices.Contains(kustomizations, name):
			l.kustomizations = append(l.kustomizations, e.path)
		default:
			l.files = append(l.files, e.path)
		}
	}
	slices.Sort(l.files)
	return l
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
