package schemas

import (
	"strings"
)

// Alternatives lists the values of an argument, as Markdown.
func Alternatives(all []string) string {
	quoted := make([]string, len(all))
	for i, a := range all {
		quoted[i] = "`" + a + "`"
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}
