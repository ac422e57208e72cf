package inventory

import (
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Summary returns a line for each folder, such as "+1 -0 ~3, 16 targets, tree 8042707eec4d". changes contains the first
// part of lines, if it is known. last contains the lines of the last apply: the line of an unchanged folder stays.
func (inv Folders) Summary(changes, last map[string]string) map[string]string {
	all := make(map[string]string, len(inv))
	for name, folder := range inv {
		if folder.Known < Whole {
			all[name] = unknown.Text
			continue
		}
		line := fmt.Sprintf("%s, tree %.12s", problem.Count(len(folder.Targets), "target"), folder.Hash)
		switch {
		case last[name] == line || strings.HasSuffix(last[name], ", "+line):
			line = last[name]
		case changes[name] != "":
			line = changes[name] + ", " + line
		}
		all[name] = line
	}
	return all
}
