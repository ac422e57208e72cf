package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Limits limits the size of a fleet, so that one team can't block the others. Zero means the default.
type Limits struct {
	Assignments        int           // in the environment
	TargetsPerWorkload int           // deployment targets of one Workload in the environment
	FileSize           int64         // bytes of a rendered file, and of any value in it
	Manifests          int64         // bytes of all Kalypso YAML together
	FileTime           time.Duration // for rendering a file; not an argument
}

// DefaultLimits is far above the size of any real fleet.
var DefaultLimits = Limits{
	Assignments:        250_000,
	TargetsPerWorkload: 2000,
	FileSize:           1 << 20,
	Manifests:          256 << 20,
	FileTime:           10 * time.Second, // the files of real fleets take a few milliseconds
}

// ParseLimits parses configured limits. An empty text means the default. A limit that is not known yet is checked by
// the apply.
func ParseLimits(assignments, targetsPerWorkload, fileSize, manifests string) (l Limits, ps problem.Problems) {
	read := func(attribute, text string, ifUnknown int64, parse func(string) (int64, error)) int64 {
		switch {
		case text == "":
			return 0
		case unknown.Is(text):
			return ifUnknown
		}
		n, err := parse(text)
		if err != nil {
			ps = append(ps, problem.At("Invalid limit", problem.Sentence(err), "limits", attribute))
		}
		return n
	}
	return Limits{
		Assignments:        int(read("assignments", assignments, math.MaxInt, parseCount)),
		TargetsPerWorkload: int(read("targets_per_workload", targetsPerWorkload, math.MaxInt, parseCount)),
		FileSize:           read("file_size", fileSize, 0, ParseBytes),
		Manifests:          read("manifests", manifests, math.MaxInt64, ParseBytes),
	}, ps
}

func parseCount(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is less than 1; remove it for the default", text)
	}
	return n, nil
}

// WithDefaults returns l with the default for each unset limit.
func (l Limits) WithDefaults() Limits {
	return Limits{
		Assignments:        cmp.Or(l.Assignments, DefaultLimits.Assignments),
		TargetsPerWorkload: cmp.Or(l.TargetsPerWorkload, DefaultLimits.TargetsPerWorkload),
		FileSize:           cmp.Or(l.FileSize, DefaultLimits.FileSize),
		Manifests:          cmp.Or(l.Manifests, DefaultLimits.Manifests),
		FileTime:           cmp.Or(l.FileTime, DefaultLimits.FileTime),
	}
}

// checkTargetsPerWorkload reports Workloads with too many deployment targets in the environment.
func (f *Fleet) checkTargetsPerWorkload() (ps problem.Problems) {
	limit := f.Limits.WithDefaults().TargetsPerWorkload
	for _, w := range f.Workloads {
		targets := 0
		for i := range w.Targets {
			if w.Targets[i].Environment == f.Environment {
				targets++
			}
		}
		if targets > limit {
			ps = append(ps, ProblemOf(w, problem.Problem{
				Fault:   problem.TeamFault,
				Affects: f.affected(w),
				Path:    []problem.Step{problem.Attr("deployment_targets")},
				Summary: "Too many deployment targets",
				Detail: fmt.Sprintf("The workload has %d deployment targets in environment %q; limits.targets_per_workload "+
					"allows %d. "+
					"Split the workload, or raise the limit.", targets, f.Environment, limit),
			}))
		}
	}
	return ps
}

// CheckManifests reports Kalypso YAML that exceeds the limit in bytes, with the keys of its texts.
func (l Limits) CheckManifests(texts map[string]string) problem.Problems {
	var size int64
	for _, text := range texts {
		size += int64(len(text))
	}
	limit := l.WithDefaults().Manifests
	if size <= limit {
		return nil
	}
	largest := slices.SortedFunc(maps.Keys(texts), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(texts[b]), len(texts[a])), cmp.Compare(a, b))
	})
	for i, key := range largest {
		largest[i] = fmt.Sprintf("%q: %s", key, FormatBytes(int64(len(texts[key]))))
	}
	const shown = 5
	return problem.Problems{problem.At("Too much Kalypso YAML", fmt.Sprintf("The texts in manifests have %s; "+
		"limits.manifests allows %s. Leave out objects that this environment does not use, or raise the limit. The largest "+
		"texts:\n%s", FormatBytes(size), FormatBytes(limit), problem.IndentedList(largest, shown)), "limits", "manifests")}
}

// ParseBytes reads a number of bytes, a Kubernetes quantity such as 1Mi.
func ParseBytes(text string) (int64, error) {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a quantity, which is a number with a suffix, such as 512Ki, 1Mi or 100M", text)
	}
	n, whole := q.AsInt64()
	if !whole || n < 1 {
		return 0, fmt.Errorf("%q is not a number of bytes greater than 0", text)
	}
	return n, nil
}

// FormatBytes formats a number of bytes for an error, as a Kubernetes quantity such as 1Mi if that is exact.
func FormatBytes(n int64) string {
	if n < 1024 || n%1024 != 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return resource.NewQuantity(n, resource.BinarySI).String()
}
