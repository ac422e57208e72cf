package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// problems returns the problems of a location that was read, except those of its documents.
func (c *contents) problems(registration string) Problems {
	var fs Problems
	for _, at := range c.files {
		if size, tooLarge := c.tooLarge[at]; tooLarge {
			fs = append(fs, Problem{
				Registration: registration, Location: c.location, File: at, Summary: "File too large",
				Detail: fmt.Sprintf("The file is too large to read: it has %d bytes. Split it, or list it in %s if it contains "+
					"no Kalypso objects.", size, ignoreFile),
			})
		}
	}
	const silence = "To silence this warning, list them in " + ignoreFile
	warn := func(paths []string, summary, detail string) {
		const listed = 20
		if more := len(paths) - listed; more > 0 {
			paths = append(slices.Clone(paths[:listed]), fmt.Sprintf("and %d more", more))
		}
		if len(paths) > 0 {
			fs = append(fs, Problem{
				Severity: problem.Warning, Registration: registration, Location: c.location, Summary: summary,
				Detail: fmt.Sprintf("%s: %s.", detail, strings.Join(paths, ", ")),
			})
		}
	}
	warn(c.links, "Symbolic links skipped", "Symbolic links are not followed. "+silence)
	warn(c.modules, "Submodules skipped", "Submodules are not followed. "+silence)
	warn(c.kustomizations, "Kustomizations skipped",
		"Files are read as they are. A Kustomization's patches, additions and exclusions are not applied. "+silence)
	warn(c.sameButCase, "Names that differ by letter case alone",
		"On Windows and macOS, a clone contains only one file of each pair, so it renders another tree. Rename one of each")
	return fs
}
