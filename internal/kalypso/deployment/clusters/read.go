package clusters

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// Source lists clusters.
type Source interface {
	// Name returns the name of the source, which its clusters have as [Cluster.Source].
	Name() string
	// Clusters lists the clusters. An error that wraps [deployment.ErrNoAnswer] means that they can't be known now.
	Clusters(ctx context.Context) (List, error)
}

// Given is a source whose clusters are part of the configuration.
type Given struct {
	Of  string
	All []Cluster
}

// Name implements [Source].
func (g Given) Name() string { return g.Of }

// Clusters implements [Source].
func (g Given) Clusters(context.Context) (l List, err error) {
	for _, c := range g.All {
		c.Source = g.Of
		if err := l.Add(fmt.Sprintf("cluster %q", c.Name), c); err != nil {
			return l, err
		}
	}
	return l, nil
}

// Unknown is a source that can't be contacted yet, because its configuration is known only after apply.
type Unknown string

// Name implements [Source].
func (u Unknown) Name() string { return string(u) }

// Clusters implements [Source].
func (Unknown) Clusters(context.Context) (List, error) {
	return List{}, fmt.Errorf("%w: the provider's configuration for it is known after apply; add depends_on with the "+
		"resource that creates the hub, so that its clusters are read during apply", deployment.ErrNoAnswer)
}

// Read asks all sources. If a source does not answer, Read uses its clusters from an earlier run, with a warning.
// Without an earlier run, it reports an error.
func Read(ctx context.Context, sources []Source, last []Cluster) ([]List, problem.Problems) {
	lists, errs := make([]List, len(sources)), make([]error, len(sources))
	parallel.Limited(len(sources), len(sources), func(i int) { lists[i], errs[i] = sources[i].Clusters(ctx) })
	var ps problem.Problems
	report := func(severity problem.Severity, summary, detail string) {
		ps = append(ps, problem.Problem{Severity: severity, Summary: summary, Detail: detail,
			Path: []problem.Step{problem.Attr("source")}})
	}
	for i, source := range sources {
		err := errs[i]
		if err == nil {
			continue
		}
		failure := problem.Sentence(fmt.Errorf("source %s: %w", source.Name(), err))
		if !errors.Is(err, deployment.ErrNoAnswer) && !errors.Is(err, context.DeadlineExceeded) {
			report(problem.Error, "A source can't be used", failure)
			continue
		}
		earlier := slices.DeleteFunc(slices.Clone(last), func(c Cluster) bool { return c.Source != source.Name() })
		if len(earlier) == 0 {
			report(problem.Error, "A source did not answer", failure+" Plan again, or set last to the clusters of an earlier "+
				"run, which are then used instead.")
			continue
		}
		lists[i], err = Given{source.Name(), earlier}.Clusters(ctx)
		if err != nil {
			report(problem.Error, "A source can't be used", problem.Sentence(fmt.Errorf("last: %w", err)))
			continue
		}
		report(problem.Warning, "A source did not answer", failure+fmt.Sprintf(" The last list is used for it: %s.",
			problem.Count(len(earlier), "cluster")))
	}
	return lists, ps
}
