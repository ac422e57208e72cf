package postgres

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// dropsRows is the reason why rows may be missing after a statement without an error.
const dropsRows = "A trigger, a rule or a row-level policy of the database drops them: let the provider's user write " +
	"all rows"

// rowsDropped returns the error for a statement that wrote fewer rows than it should, without an error of the server.
func rowsDropped(tables string, wrote, want int) error {
	return &refusal{fmt.Errorf("%d of %d rows were written to %s. %s", wrote, want, tables, dropsRows)}
}

// write runs a statement, and returns an error that names the tables if the number of written rows is wrong.
func (w *writer) write(tables string, want int, statement string, arguments ...any) error {
	tag, err := w.Exec(w.ctx, statement, arguments...)
	if wrote := int(tag.RowsAffected()); err == nil && wrote != want {
		err = rowsDropped(tables, wrote, want)
	}
	return err
}

func (w *writer) observation(o *observation.Observation, n history.Rows) error {
	if err := w.write("the table observation", 1, `INSERT INTO observation
		(environment_id, observed_at, head, promoted_commit, verdict, verdict_since, changes)
		VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $7)`,
		w.environment, o.ObservedAt, o.Head, o.PromotedCommit, o.Verdict,
		cmp.Or(o.VerdictSince, o.ObservedAt), n.Result.Changes); err != nil {
		return err
	}
	return w.write("the table environment", 1, "UPDATE environment SET observed_at = $2, observation = $3 WHERE id = $1",
		w.environment, o.ObservedAt, n.Hash)
}

// change closes and opens runs.
func (w *writer) change(c history.InstanceChange) error {
	var version *int64
	if id, there := w.versions[keyOf(c.To.Version)]; there && c.To.Version != (observation.Version{}) {
		version = &id
	}
	for members := range slices.Chunk(c.Members, batch) {
		names := clusters(members)
		sinces, messages := make([]time.Time, len(members)), make([]string, len(members))
		for i, m := range members {
			sinces[i], messages[i] = observation.Time(m.Since), m.Message
		}
		if c.From.State == "" {
			// An instance that ended earlier already has a row.
			if _, err := w.Exec(w.ctx, `INSERT INTO instance (environment_id, cluster_type, deployment_target, cluster)
				SELECT $1, $2, $3, cluster FROM unnest($4::text[]) AS x (cluster)
				ON CONFLICT (environment_id, deployment_target, cluster, cluster_type) DO NOTHING`,
				w.environment, c.ClusterType, c.Target, names); err != nil {
				return err
			}
		} else if err := w.write("the table run", len(names), `UPDATE run SET until = x.since
			FROM unnest($4::text[], $5::timestamptz[]) AS x (cluster, since)
			JOIN instance i ON i.environment_id = $1 AND i.cluster_type = $2 AND i.deployment_target = $3
				AND i.cluster = x.cluster
			WHERE run.instance_id = i.id AND run.until IS NULL`,
			w.environment, c.ClusterType, c.Target, names, sinces); err != nil {
			return err
		}
		if c.To.State == history.Removed {
			continue
		}
		if err := w.write("the tables instance and run", len(names), `INSERT INTO run
			(instance_id, since, version_id, state, message)
			SELECT i.id, x.since, $6, $7, nullif(x.message, '')
			FROM unnest($4::text[], $5::timestamptz[], $8::text[]) AS x (cluster, since, message)
			JOIN instance i ON i.environment_id = $1 AND i.cluster_type = $2 AND i.deployment_target = $3
				AND i.cluster = x.cluster`,
			w.environment, c.ClusterType, c.Target, names, sinces, version, c.To.State, messages); err != nil {
			return err
		}
	}
	return nil
}

func clusters(members []observation.Member) []string {
	return lists.Map(members, func(m observation.Member) string { return m.Cluster })
}

// deliveries writes deliveries that are new or differ.
func (w *writer) deliveries(all []history.Delivery) error {
	if len(all) == 0 {
		return nil
	}
	rows, err := json.Marshal(all)
	if err != nil {
		return err
	}
	const columns = `commit, started_at, delivered_at, author, kind, promoted_commit, previous_commit, commits, reason,
		lead_time_seconds, running_at, failed_at, failed, restored_at`
	_, err = w.Exec(w.ctx, `INSERT INTO delivery AS d (environment_id, first_commit, `+columns+`)
		SELECT DISTINCT ON (first_commit) $1::integer, first_commit, `+columns+`
		FROM json_populate_recordset(NULL::delivery, $2::json)
		ON CONFLICT (environment_id, first_commit) DO UPDATE SET (`+columns+`) = (excluded.commit, excluded.started_at,
			excluded.delivered_at, excluded.author, excluded.kind, excluded.promoted_commit, excluded.previous_commit,
			excluded.commits, excluded.reason, excluded.lead_time_seconds, excluded.running_at, excluded.failed_at,
			excluded.failed, excluded.restored_at)
		WHERE (d.*) IS DISTINCT FROM (excluded.*)`, w.environment, string(rows))
	return err
}
