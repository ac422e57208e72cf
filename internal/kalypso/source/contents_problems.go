package source

import (
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// problems are what is to be said of a place that was read, its documents aside.
func (c *contents) problems(registration string) Problems {
	var fs Problems
	for _, at := range sortedKeys(c.tooLarge) {
		fs = append(fs, Problem{
			Registration: registration, Location: c.location, File: at, Summary: "File too large",
			Detail: fmt.Sprintf("The file has %d bytes, which is more than is read of one. Split it, or name it in %s if it holds no Kalypso objects.", c.tooLarge[at], ignoreFile),
		})
	}
	warn := func(paths []string, summary, detail string) {
		if len(paths) > 0 {
			fs = append(fs, Problem{
				Severity: fleet.Warning, Registration: registration, Location: c.location, Summary: summary,
				Detail: fmt.Sprintf("%s Name them in %s to have this said no more. They are: %s.", detail, ignoreFile, strings.Join(paths, ", ")),
			})
		}
	}
	warn(c.links, "Symbolic links passed over", "Symbolic links are not followed, wherever they lead.")
	warn(c.modules, "Submodules passed over", "Submodules are not followed.")
	warn(c.kustomizations, "Kustomizations passed over", "The files are read as they lie; what a Kustomization leaves out, adds or patches is not done.")
	return fs
}
