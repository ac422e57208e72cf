package source

import (
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// ignoreFile names, in the syntax of .gitignore, what of its folder is left out.
const ignoreFile = ".sourceignore"

// kind is what lies at a path.
type kind int

const (
	absent kind = iota
	file
	link   // symbolic
	module // of Git: a commit of another repo
)

// entry is what lies at a path that is no folder.
type entry struct {
	path string // from the root
	kind kind
}

// listing is what of a folder is to be read, and what is not.
type listing struct {
	files          []string // of YAML, sorted
	links, modules []string // they are not followed
	kustomizations []string // their files are read, but what they say is not done
}

// newListing sorts the entries below folder, a clean path. ignores are the .sourceignore files by their paths, those above the
// folder among them.
//
// As Flux has it, which read the files for the operator: what counts is the last pattern that matches a file, so that one
// in an ignored folder can be taken in again; links and submodules are not followed; files of CI systems are left out.
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
		case e.kind == link:
			l.links = append(l.links, e.path)
		case e.kind == module:
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
	// ciFiles are the files with the settings of CI systems and other tools that Flux leaves out by itself.
	ciFiles = []string{
		".travis.yml", ".gitlab-ci.yml", "appveyor.yml", ".drone.yml", "cloudbuild.yaml", "codeship-services.yml",
		"codeship-steps.yml", ".goreleaser.yml", ".sops.yaml", ".flux.yaml",
	}
	kustomizations = []string{"kustomization.yaml", "kustomization.yml"}
)

// hidden reports whether a file lies in a dot folder.
func hidden(file string) bool {
	return strings.Contains(path.Dir("/"+file), "/.")
}

// matcher has the patterns of folders before those of the folders in them, so that the nearest counts.
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

// ignoreFilePaths are the paths at which a .sourceignore would count for a folder: above it, and in it.
func ignoreFilePaths(folder string) []string {
	paths := []string{path.Join(folder, ignoreFile)}
	for at := folder; at != "."; at = path.Dir(at) {
		paths = append(paths, path.Join(path.Dir(at), ignoreFile))
	}
	return paths
}
