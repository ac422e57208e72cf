package delivery

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
)

// ServedVersion returns the API version that Flux serves in place of one that it no longer serves, or "" if there is
// nothing to replace. Flux 2.8 removed the versions before v1 of these groups, and those before v2 of HelmReleases:
// its custom resources serve no other.
func ServedVersion(apiVersion string) string {
	group, version, _ := strings.Cut(apiVersion, "/")
	served := map[string]string{
		"source.toolkit.fluxcd.io": "v1", "kustomize.toolkit.fluxcd.io": "v1", "helm.toolkit.fluxcd.io": "v2",
	}[group]
	if served == "" || !strings.Contains(version, "alpha") && !strings.Contains(version, "beta") {
		return ""
	}
	return group + "/" + served
}

// An API version of Flux in a template, as it is written there: expressions are not evaluated.
var fluxVersion = regexp.MustCompile(`(?m)^[ \t"']*apiVersion["']?:[ \t]*["']?([a-z]+\.toolkit\.fluxcd\.io/v[a-z0-9]+)`)

// maxUnserved limits how many templates a warning names.
const maxUnserved = 10

// unservedVersions warns about templates of the cluster types that render Flux objects in versions that Flux no longer
// serves: it would reject the folder.
func (d *Desired) unservedVersions() problem.Problems {
	if d.Fleet == nil {
		return nil
	}
	used := map[string]bool{}
	for _, ct := range d.Fleet.ClusterTypes {
		for _, name := range []string{ct.Reconciler, ct.NamespaceService, ct.ConfigType, ct.SecretType} {
			used[name] = true
		}
	}
	var lines []string
	for _, t := range d.Fleet.Templates {
		for _, m := range t.Manifests {
			for _, found := range fluxVersion.FindAllStringSubmatch(m, -1) {
				if served := ServedVersion(found[1]); served != "" && used[t.Name] {
					lines = append(lines, fmt.Sprintf("  - template %q: %s, now %s", t.Name, found[1], served))
				}
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	more := ""
	if n := len(lines); n > maxUnserved {
		lines, more = lines[:maxUnserved], fmt.Sprintf("\n  - and %d more", n-maxUnserved)
	}
	return problem.Problems{warning("Flux no longer serves this version", fmt.Sprintf(
		"A cluster with Flux 2.8 or later rejects objects of these versions, and with them the whole folder:\n%s%s\n\n"+
			"Change apiVersion in the templates. The release notes of Flux list the few fields that changed their names.",
		strings.Join(lines, "\n"), more))}
}
