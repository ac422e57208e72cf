package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
)

// Read implements [history.Store]. It changes nothing.
func (s *Store) Read(ctx context.Context, q history.Query) (history.StoredRuns, error) {
	var past history.StoredRuns
	err := s.transact(ctx, pgx.ReadOnly, func(tx pgx.Tx) error {
		past = history.StoredRuns{}
		if there, err := s.exists(ctx, tx); !there {
			return err
		}
		e, err := findEnvironment(ctx, tx, q)
		if err != nil || e.Hash == "" {
			return err
		}
		past.Environment, past.RecordedUntil = e.name, e.ObservedAt
		for _, read := range []func(context.Context, pgx.Tx, int32, history.Query, *history.StoredRuns) error{
			readRuns, readVersions, readObserved,
		} {
			if err := read(ctx, tx, e.id, q, &past); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return history.StoredRuns{}, err
	}
	return past, nil
}

// findEnvironment returns the environment that a query names. If the query names none, it returns the environment at
// the query's place that was recorded last.
func findEnvironment(ctx context.Context, tx pgx.Tx, q history.Query) (found environment, err error) {
	const named = " WHERE observation IS NOT NULL AND ($1 = '' OR name = $1)"
	rows, _ := tx.Query(ctx, selectEnvironment+named, q.Environment) // reading the rows returns the error
	var e environment
	_, err = pgx.ForEachRow(rows, e.columns(), func() error {
		if (q.Environment != "" || e.IsAt(q.Repo, q.Branch, q.Path)) && e.ObservedAt.After(found.ObservedAt) {
			found = e
		}
		return nil
	})
	return found, err
}

// filter returns the condition that selects an environment's runs for a query. The arguments are the environment, the
// cluster, the deployment target, and times.
func filter(q history.Query) string {
	from := "run r JOIN instance i ON i.id = r.instance_id"
	if q.Cluster != nil || q.Target != nil {
		// The query selects few instances. OFFSET makes the server look up the runs of each instance, instead of reading all
		// runs.
		from = "instance i CROSS JOIN LATERAL (SELECT * FROM run WHERE instance_id = i.id OFFSET 0) r"
	}
	return " FROM " + from + ` LEFT JOIN version v ON v.id = r.version_id
		WHERE i.environment_id = $1 AND ($2::text IS NULL OR i.cluster = $2)
			AND ($3::text IS NULL OR i.deployment_target = $3)`
}

func readRuns(ctx context.Context, tx pgx.Tx, id int32, q history.Query, past *history.StoredRuns) error {
	rows, _ := tx.Query(ctx, `SELECT i.cluster, i.cluster_type, i.deployment_target, coalesce(v.version, ''),
			coalesce(v.content, ''), coalesce(v.commit, ''), coalesce(v.workload, ''), coalesce(v.workspace, ''), r.state,
			r.since, r.until, coalesce(r.message, '')`+filter(q)+`
			AND r.since < $4 AND (r.until IS NULL OR r.until > $5)
		ORDER BY r.since DESC, i.cluster_type COLLATE "C", i.deployment_target COLLATE "C", i.cluster COLLATE "C"
		LIMIT $6`, id, q.Cluster, q.Target, q.Until, q.Since, q.Limit+1)
	var r history.Run
	v := &r.Version
	columns := []any{&r.Cluster, &r.ClusterType, &r.Target, &v.Version, &v.Content, &v.Commit, &v.Workload, &v.Workspace,
		&r.State, &r.Since, (*zeronull.Timestamptz)(&r.Until), &r.Message}
	_, err := pgx.ForEachRow(rows, columns, func() error {
		past.Runs = append(past.Runs, r)
		return nil
	})
	past.Truncated = len(past.Runs) > q.Limit
	if past.Truncated {
		past.Runs = past.Runs[:q.Limit]
	}
	return err
}

func readVersions(
	ctx context.Context, tx pgx.Tx, id int32, q history.Query, past *history.StoredRuns,
) (err error) {
	// The columns are in the order of the fields of VersionCount.
	rows, _ := tx.Query(ctx, `SELECT i.deployment_target, coalesce(v.version, ''), r.state,
			count(DISTINCT i.cluster), min(r.since), coalesce(max(v.workload COLLATE "C"), ''),
			coalesce(max(v.workspace COLLATE "C"), '')`+filter(q)+`
			AND r.since <= $4 AND (r.until IS NULL OR r.until > $4)
		GROUP BY 1, 2, 3`, id, q.Cluster, q.Target, q.Until)
	past.Versions, err = pgx.AppendRows(past.Versions, rows, pgx.RowToStructByPos[history.VersionCount])
	slices.SortFunc(past.Versions, history.VersionCount.Compare)
	return err
}

func readObserved(
	ctx context.Context, tx pgx.Tx, id int32, q history.Query, past *history.StoredRuns,
) (err error) {
	// The columns are in the order of the fields of RecordedVerdict.
	rows, _ := tx.Query(ctx, `SELECT observed_at, head, coalesce(promoted_commit, ''), verdict,
		coalesce(verdict_since, observed_at)
		FROM observation WHERE environment_id = $1 AND observed_at >= $2 ORDER BY observed_at`, id, q.Since)
	past.Observed, err = pgx.AppendRows(past.Observed, rows, pgx.RowToStructByPos[history.RecordedVerdict])
	return err
}
