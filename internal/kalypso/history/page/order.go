package page

import (
	"cmp"
	"fmt"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/util/version"
)

// sequence maps each version to the time at which an environment first ran it.
type sequence map[string]time.Time

func (s sequence) add(of string, at time.Time) {
	if first, there := s[of]; !there || at.Before(first) {
		s[of] = at
	}
}

// comparable reports whether other environments may run the same version.
func (c *cell) comparable() bool { return c != nil && c.Version != "" && !c.own }

// compare marks the cells that are ahead of other environments, and the cells that are behind.
func (r *row) compare() {
	var versions []string
	var seen []sequence
	for _, c := range r.Cells {
		if c.comparable() {
			versions, seen = append(versions, c.Version), append(seen, c.addedChanges)
		}
	}
	for _, c := range r.Cells {
		if !c.comparable() {
			continue
		}
		newer, older := map[string]bool{}, false
		for _, v := range versions {
			r.Differs = r.Differs || v != c.Version
			switch order := compareVersions(v, c.Version, seen); {
			case order > 0:
				newer[v] = true
			case order < 0:
				older = true
			}
		}
		switch {
		case len(newer) > 0:
			c.Lead = fmt.Sprintf("%d behind", len(newer))
		case older:
			c.Lead = "ahead"
		}
	}
}

// compareVersions returns 1 if a is newer than b, -1 if it is older, and 0 if that is not known. Version numbers
// decide. Without numbers, the order decides in which an environment ran both versions.
func compareVersions(a, b string, seen []sequence) int {
	if a == b {
		return 0
	}
	if x, y := numbered.FindStringSubmatch(a), numbered.FindStringSubmatch(b); x != nil && y != nil {
		return cmp.Or(compareNumbers(x[1], y[1]), comparePre(x[2], y[2]))
	}
	for _, s := range seen {
		first, there := s[a]
		second, there2 := s[b]
		if there && there2 {
			return first.Compare(second)
		}
	}
	return 0
}

// numbered matches a version of two or more numbers, with a pre-release and build metadata of Semantic Versioning. One
// number alone may be digits of a commit.
var numbered = regexp.MustCompile(`^v?(\d{1,9}(?:\.\d{1,9})+)(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$`)

// compareNumbers compares the numbers of versions. A missing number is 0.
func compareNumbers(a, b string) int {
	numbers, err := version.ParseGeneric(a)
	if err != nil {
		return 0
	}
	order, _ := numbers.Compare(b)
	return order
}

// comparePre compares versions with the same numbers by their pre-releases: a pre-release is older than the release.
// The order of two pre-releases is not known.
func comparePre(a, b string) int {
	switch {
	case a == "" && b != "":
		return 1
	case a != "" && b == "":
		return -1
	}
	return 0
}
