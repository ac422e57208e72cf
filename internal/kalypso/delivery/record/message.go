package record

import (
	"regexp"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// Kinds are the kinds of objects in commit messages.
var Kinds = []string{"config", "secret", "cluster type", "template", "schema", "policy", "workload", "registration"}

const subject = "Render environment "

// MaxObjects limits the lines of a commit message that name objects.
const MaxObjects = 10

// Message returns the beginning of a commit's message. objects are the objects of the fleet that changed, a line each,
// which begins with one of [Kinds]; none: they are not known.
func Message(environment string, objects []string) string {
	text := subject + environment + "\n"
	if len(objects) > 0 {
		text += "\n" + strings.Join(objects, "\n") + "\n"
	}
	return text
}

// objectLine matches a line that names an object.
var objectLine = regexp.MustCompile(`^(?:(?:` + strings.Join(Kinds, "|") + `) \S|and \d+ more objects$)`)

// ObjectsIn returns the objects that a message names, as [Message] writes it and hosts quote it. People
// may write such a message, too.
func ObjectsIn(message string) (objects []string) {
	_, rest, ours := strings.Cut(message, subject)
	_, rest, _ = strings.Cut(rest, "\n")
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" && len(objects) == 0:
		case !ours || len(objects) == MaxObjects || !objectLine.MatchString(line):
			return objects
		default:
			objects = append(objects, printable.Line(line))
		}
	}
	return objects
}
