package comparison

import (
	"bytes"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
)

// The marks are private-use characters. YAML allows them, and texts almost never contain them.
const (
	namespaceMark   = "\ue000"
	clusterTypeMark = "\ue001"
)

func hasMarks(content []byte) bool { return bytes.ContainsAny(content, namespaceMark+clusterTypeMark) }

// names contains the folder's names that differ between the sides, with the marks that replace them in its files.
type names []struct{ name, mark string }

// namesOf returns the names of a folder on both sides. It leaves out names that are the same on both.
func (c *Comparison) namesOf(f FolderPair) (n Pair[names]) {
	add := func(left, right, mark string) {
		if left != right && left != "" && right != "" {
			n.Left = append(n.Left, struct{ name, mark string }{left, mark})
			n.Right = append(n.Right, struct{ name, mark string }{right, mark})
		}
	}
	// A namespace contains the other names, so it comes first.
	left, _ := schedule.Namespace(c.Environments.Left, f.ClusterType, f.Target)
	right, _ := schedule.Namespace(c.Environments.Right, f.RightClusterType, f.Target)
	add(left, right, namespaceMark)
	add(f.ClusterType, f.RightClusterType, clusterTypeMark)
	return n
}

// hide replaces the names in a content by their marks.
func (n names) hide(content []byte) string {
	text := string(content)
	for _, r := range n {
		text = replaceWord(text, r.name, r.mark)
	}
	return text
}

// restore replaces the marks by the names.
func (n names) restore(text string) string {
	for _, r := range n {
		text = strings.ReplaceAll(text, r.mark, r.name)
	}
	return text
}

// replaceWord replaces a whole word. It does not replace large in larger.
func replaceWord(text, word, by string) string {
	if !strings.Contains(text, word) {
		return text
	}
	var b strings.Builder
	rest, before := text, byte(0)
	for {
		i := strings.Index(rest, word)
		if i < 0 {
			b.WriteString(rest)
			return b.String()
		}
		end := i + len(word)
		if i > 0 {
			before = rest[i-1]
		}
		if isAlphanumeric(before) || end < len(rest) && isAlphanumeric(rest[end]) {
			b.WriteString(rest[:end])
		} else {
			b.WriteString(rest[:i])
			b.WriteString(by)
		}
		rest, before = rest[end:], word[len(word)-1]
	}
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
