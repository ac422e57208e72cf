package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// distance says how far an object is from meeting requirements. A label whose value is nearly the required one is
// probably a typing error, so it counts less than any other mismatch.
type distance struct {
	others int // mismatches that are no typing errors
	edits  int // of the most similar value
	all    int // mismatches
}

func distanceOf(mismatches []Mismatch) distance {
	d := distance{all: len(mismatches)}
	if d.all > 0 {
		d.edits = maxEdits + 1
	}
	for _, m := range mismatches {
		if _, edits := m.similar(); edits <= maxEdits {
			d.edits = min(d.edits, edits)
		} else {
			d.others++
		}
	}
	return d
}

func (d distance) compare(other distance) int {
	return cmp.Or(cmp.Compare(d.others, other.others), cmp.Compare(d.edits, other.edits), cmp.Compare(d.all, other.all))
}

// maxEdits limits the edits between similar values. A third of the longer value is the limit for short ones: "eu" and
// "us" are not similar.
const maxEdits = 2

// similar returns the required value that is most similar to the label's value, and the number of edits between them,
// which is above [maxEdits] if none is similar.
func (m Mismatch) similar() (value string, edits int) {
	edits = maxEdits + 1
	if m.Operator != metav1.LabelSelectorOpIn || m.Found == nil || unknown.Is(*m.Found) {
		return "", edits
	}
	for _, v := range m.Values {
		if n := editsBetween(*m.Found, v); n < edits {
			value, edits = v, n
		}
	}
	return value, edits
}

// editsBetween returns how many characters are inserted, removed or replaced between two similar values. Two neighbours
// that changed places are one edit. It is above [maxEdits] if the values are not similar, or if they are numbered:
// "zone-1" is no typing error of "zone-2", and "team-a" none of "team-b".
func editsBetween(a, b string) int {
	longer := max(len(a), len(b))
	if longer-min(len(a), len(b)) > maxEdits || longer < 3 || numbered(a, b) {
		return maxEdits + 1
	}
	n := levenshtein.ComputeDistance(a, b)
	if n == 2 && swapped(a, b) {
		n = 1
	}
	if 3*n > longer {
		return maxEdits + 1
	}
	return n
}

// swapped reports whether two texts are equal but for two neighbours that changed places.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// numbered reports whether two texts are equal without their digits, and without the words of one letter.
func numbered(a, b string) bool {
	return slices.Equal(wordsOf(a), wordsOf(b))
}

// wordsOf returns the words of a text that have at least two letters, without digits.
func wordsOf(text string) []string {
	digit := func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}
	words := strings.FieldsFunc(strings.Map(digit, text), func(r rune) bool { return strings.ContainsRune("-_./", r) })
	return slices.DeleteFunc(words, func(word string) bool { return len(word) < 2 })
}

// suggest adds the value that was probably meant to mismatches that one edit mends. If an object has the required
// value, the label is wrong, else the requirement.
func suggest(mismatches []Mismatch, o objects) {
	for i, m := range mismatches {
		value, edits := m.similar()
		if edits != 1 {
			continue
		}
		mismatches[i].meant = *m.Found
		for n := range o.count {
			if _, labels := o.at(n); labels[m.Key] == value {
				mismatches[i].meant = value
				break
			}
		}
	}
}
