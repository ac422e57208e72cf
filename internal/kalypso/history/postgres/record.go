// Package postgres keeps the runs in PostgreSQL, for SQL and dashboards. See schema.sql.
package postgres

import (
	"context"
	_ "embed" // for the schema
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// schemaVersion is the version of the schema that this package writes.
const schemaVersion = 1

// batch is the number of instances in one statement.
const batch = 10_000

//go:embed schema.sql
var schema string

var _ history.Store = (*Store)(nil)

// Store is a schema of a database. Its errors name the server and the database.
type Store struct {
	config  *pgx.ConnConfig
	schema  string
	secrets *redact.Secrets
}

// environment is a row of the table environment.
type environment struct {
	id   int32
	name string
	history.Snapshot
}

const selectEnvironment = `SELECT id, name, repo, branch, path, observed_at, coalesce(observation, '') FROM environment`

// columns returns the destinations of the columns of selectEnvironment.
func (e *environment) columns() []any {
	return []any{&e.id, &e.name, &e.Repo, &e.Branch, &e.Path, (*zeronull.Timestamptz)(&e.ObservedAt), &e.Hash}
}

// Snapshot implements [history.Store].
func (s *Store) Snapshot(ctx context.Context, name string) (history.Snapshot, error) {
	var found environment
	err := s.transact(ctx, pgx.ReadOnly, func(tx pgx.Tx) error {
		there, err := s.exists(ctx, tx)
		if there {
			found, err = findEnvironment(ctx, tx, history.Query{Environment: name})
		}
		return err
	})
	return found.Snapshot, err
}

// exists reports whether the schema has our tables.
func (s *Store) exists(ctx context.Context, tx pgx.Tx) (there bool, err error) {
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'schema_version')`,
		s.schema).Scan(&there)
	return there, err
}

// Record implements [history.Store]. The first record creates the schema.
func (s *Store) Record(ctx context.Context, r history.Write) (history.WriteResult, error) {
	prepared := r.Prepare()
	for attempt := 0; ; attempt++ {
		var done history.WriteResult
		var missing []observation.Version
		err := s.transact(ctx, pgx.ReadWrite, func(tx pgx.Tx) error {
			there, err := s.exists(ctx, tx)
			switch {
			case err != nil:
				return err
			case !there:
				return &refusal{errSchemaMissing}
			}
			w := writer{Tx: tx, ctx: ctx}
			done, missing, err = w.record(prepared)
			return err
		})
		var repair func(pgx.Tx) error
		switch {
		case errors.Is(err, errSchemaMissing):
			repair = func(tx pgx.Tx) error { return s.create(ctx, tx) }
		case errors.Is(err, errVersionsMissing):
			// Versions are inserted in a short transaction of their own, since records of two environments may insert the same
			// versions and block each other.
			repair = func(tx pgx.Tx) error { return insertVersions(ctx, tx, missing) }
		default:
			return done, err
		}
		// The first record needs two repairs: the schema and the versions.
		if attempt == attempts || attempt >= 2 && clock.Sleep(ctx, backoff(attempt)) != nil {
			return history.WriteResult{}, err
		}
		if err := s.transact(ctx, pgx.ReadWrite, repair); err != nil {
			return history.WriteResult{}, err
		}
	}
}

// A record needs the schema and rows that another transaction creates. It fails with these errors if they are still
// missing afterwards.
var (
	errSchemaMissing = errors.New("the schema is missing again, although it was created. If the URL leads to several " +
		"servers, let it name the primary server")
	errVersionsMissing = errors.New("rows of the table version are missing again, although they were inserted. " +
		"" + dropsRows)
)

// create creates the schema, unless another process just did.
func (s *Store) create(ctx context.Context, tx pgx.Tx) error {
	there, err := s.exists(ctx, tx)
	if there || err != nil {
		return err
	}
	var made bool
	const find = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1)"
	if err := tx.QueryRow(ctx, find, s.schema).Scan(&made); err != nil {
		return err
	}
	if !made {
		if _, err := tx.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{s.schema}.Sanitize()); err != nil {
			return err
		}
	}
	_, err = tx.Conn().PgConn().Exec(ctx, schema).ReadAll() // the only method that runs several statements
	return err
}

// writer writes a record in one transaction.
type writer struct {
	pgx.Tx
	ctx         context.Context
	environment int32
	versions    map[versionKey]int64
}

func (w *writer) record(r *history.Plan) (done history.WriteResult, missing []observation.Version, err error) {
	if err := w.checkVersion(); err != nil {
		return done, nil, err
	}
	o := r.Observation
	if _, err := w.Exec(w.ctx, `INSERT INTO environment (name, repo, branch, path) VALUES ($1, $2, $3, $4)
		ON CONFLICT (name) DO NOTHING`, o.Environment, o.Repo, o.Branch, o.Path); err != nil {
		return done, nil, err
	}
	// Other processes that record the same environment wait here.
	var e environment
	err = w.QueryRow(w.ctx, selectEnvironment+" WHERE name = $1 FOR UPDATE", o.Environment).Scan(e.columns()...)
	if errors.Is(err, pgx.ErrNoRows) {
		err = rowsDropped("the table environment", 0, 1)
	}
	if err != nil {
		return done, nil, err
	}
	w.environment = e.id
	n, err := r.Rows(e.Snapshot, w.load)
	done = n.Result
	switch {
	case errors.Is(err, history.ErrPlace):
		return done, nil, &refusal{err}
	case err != nil || !n.Write:
		return done, nil, err
	}
	missing, err = w.findVersions(n.Changes)
	if err != nil {
		return done, missing, err
	}
	for _, c := range n.Changes {
		if err := w.change(c); err != nil {
			return done, nil, err
		}
	}
	if err := w.deliveries(r.Deliveries); err != nil {
		return done, nil, err
	}
	return done, nil, w.observation(o, n)
}

// checkVersion returns an error if this version of the provider must not write. If there are several rows, for example
// after a restored dump, the strictest row decides.
func (w *writer) checkVersion() error {
	var minWriter *int
	if err := w.QueryRow(w.ctx, "SELECT max(min_writer) FROM schema_version").Scan(&minWriter); err != nil {
		return err
	}
	switch {
	case minWriter == nil:
		return &refusal{errors.New("the table schema_version is empty. Run the last line of " + SchemaFile)}
	case *minWriter > schemaVersion:
		return &refusal{fmt.Errorf("the schema has version %d, and this version of the provider writes up to version %d; "+
			"use a newer provider", *minWriter, schemaVersion)}
	}
	return nil
}

// load returns the latest conditions of instances, see [history.Plan.Rows].
func (w *writer) load(some []history.InstanceChange) (*observation.Observation, error) {
	found := history.Present{}
	if some == nil {
		rows, _ := w.Query(w.ctx, selectLast+" WHERE i.environment_id = $1", w.environment) // reading returns the error
		err := addLast(found, rows)
		return found.Observation(), err
	}
	for _, c := range some {
		for members := range slices.Chunk(c.Members, batch) {
			rows, _ := w.Query(w.ctx, selectLast+` WHERE i.environment_id = $1 AND i.cluster_type = $2
				AND i.deployment_target = $3 AND i.cluster = ANY ($4::text[])`,
				w.environment, c.ClusterType, c.Target, clusters(members))
			if err := addLast(found, rows); err != nil {
				return nil, err
			}
		}
	}
	return found.Observation(), nil
}

// selectLast selects the last run of instances.
const selectLast = `SELECT i.cluster, i.cluster_type, i.deployment_target, r.since, r.until, r.state,
		coalesce(v.content, ''), coalesce(v.version, ''), coalesce(v.commit, '')
	FROM instance i
	CROSS JOIN LATERAL (SELECT * FROM run WHERE instance_id = i.id ORDER BY since DESC LIMIT 1) r
	LEFT JOIN version v ON v.id = r.version_id`

// addLast adds the rows of selectLast.
func addLast(to history.Present, rows pgx.Rows) error {
	var r history.Run
	columns := []any{&r.Cluster, &r.ClusterType, &r.Target, &r.Since, (*zeronull.Timestamptz)(&r.Until), &r.State,
		&r.Version.Content, &r.Version.Version, &r.Version.Commit}
	_, err := pgx.ForEachRow(rows, columns, func() error {
		to.Add(r)
		return nil
	})
	return err
}
