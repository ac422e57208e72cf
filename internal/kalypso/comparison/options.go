package comparison

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Options configures which differences are ignored. An unknown text is [unknown.Text].
type Options struct {
	// Ignore lists keys of configs that are not compared, as target.KEY. A * stands for any text.
	Ignore []string
	// Match maps a cluster type on the right to the cluster type on the left that it is compared with.
	Match map[string]string
}

// Validate reports invalid options. It skips those that are not known yet.
func (o Options) Validate() (ps problem.Problems) {
	for i, text := range o.Ignore {
		if target, key, _ := strings.Cut(text, "."); !unknown.Is(text) && (target == "" || key == "") {
			p := problem.At("Invalid key", fmt.Sprintf("%q is not a deployment target and a key of its config, such as "+
				"\"*.NAMESPACE\" or \"app-web.REGION\".", text), "ignore")
			p.Path = append(p.Path, problem.Index(i))
			ps = append(ps, p)
		}
	}
	matched := map[string]string{}
	for _, right := range slices.Sorted(maps.Keys(o.Match)) {
		left := o.Match[right]
		if unknown.Is(left) || unknown.Is(right) {
			continue
		}
		if other, twice := matched[left]; twice {
			ps = append(ps, atMatch(right, problem.Error, "Cluster type matched twice", fmt.Sprintf("%s and %s of the right "+
				"side are both compared with %s of the left side. Match it with one of them.", other, right, left)))
		}
		matched[left] = right
	}
	return ps
}

func atMatch(right string, severity problem.Severity, summary, detail string) problem.Problem {
	p := problem.At(summary, detail, "match")
	p.Path, p.Severity = append(p.Path, problem.Key(right)), severity
	return p
}

// Check reports matches that do not fit the sides. It is an error if the right side already has a cluster type with the
// matched name of the left side. It is a warning if a side lacks a name.
func (o Options) Check(left, right Side) (ps problem.Problems) {
	for _, name := range slices.Sorted(maps.Keys(o.Match)) {
		as := o.Match[name]
		_, onLeft := left.Folders[as]
		_, onRight := right.Folders[name]
		_, same := right.Folders[as]
		_, moved := o.Match[as]
		switch {
		case same && !moved && as != name:
			ps = append(ps, atMatch(name, problem.Error, "Cluster type matched twice", fmt.Sprintf("The right side also has "+
				"%s, which is compared with %[1]s of the left side. Match it with another one.", as)))
		case !onLeft:
			ps = append(ps, atMatch(name, problem.Warning, "Unknown cluster type", fmt.Sprintf(
				"The left side has no cluster type %q. Check the spelling.", as)))
		case !onRight:
			ps = append(ps, atMatch(name, problem.Warning, "Unknown cluster type", fmt.Sprintf(
				"The right side has no cluster type %q. Check the spelling.", name)))
		}
	}
	return ps
}

// leftName returns the left side's name for a cluster type of the right side.
func (o Options) leftName(right string) string {
	if name, matched := o.Match[right]; matched {
		return name
	}
	return right
}

// ignored returns a function that reports whether the key of a target's config is ignored.
func (o Options) ignored() func(target, key string) bool {
	if len(o.Ignore) == 0 {
		return func(string, string) bool { return false }
	}
	patterns := lists.Map(o.Ignore, func(text string) string {
		return strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, `.*`)
	})
	matches := regexp.MustCompile(`(?s)^(?:` + strings.Join(patterns, "|") + `)$`)
	return func(target, key string) bool { return matches.MatchString(target + "." + key) }
}
