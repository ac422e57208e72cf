package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
)

// versionKey identifies a version in the table.
type versionKey struct{ repo, path, content, version string }

func keyOf(v observation.Version) versionKey { return versionKey{v.Repo, v.Path, v.Content, v.Version} }

// findVersions looks up the versions in changes. It returns the versions that the table lacks, sorted, with
// [errVersionsMissing]. A version that is named by its commit (see [observation.Version.OfCommit]) is also missing if
// its row has no commit, since such a row means another version.
func (w *writer) findVersions(changes []history.InstanceChange) (missing []observation.Version, err error) {
	wanted := map[versionKey]observation.Version{}
	for _, c := range changes {
		key := keyOf(c.To.Version)
		if c.To.Version != (observation.Version{}) && !wanted[key].OfCommit() {
			wanted[key] = c.To.Version
		}
	}
	var columns [4][]string
	for key := range wanted {
		for i, text := range []string{key.repo, key.path, key.content, key.version} {
			columns[i] = append(columns[i], text)
		}
	}
	rows, _ := w.Query(w.ctx, `SELECT v.id, v.repo, v.path, v.content, v.version, v.commit IS NOT NULL
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS x (repo, path, content, version)
		JOIN version v ON v.repo = x.repo AND v.path = x.path AND v.content = x.content AND v.version = x.version`,
		columns[0], columns[1], columns[2], columns[3])
	w.versions = map[versionKey]int64{}
	var id int64
	var key versionKey
	var hasCommit bool
	row := []any{&id, &key.repo, &key.path, &key.content, &key.version, &hasCommit}
	_, err = pgx.ForEachRow(rows, row, func() error {
		if hasCommit || !wanted[key].OfCommit() {
			w.versions[key] = id
			delete(wanted, key)
		}
		return nil
	})
	if err != nil || len(wanted) == 0 {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(wanted), func(a, b observation.Version) int {
		return cmp.Or(cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Content, b.Content),
			cmp.Compare(a.Version, b.Version))
	}), &refusal{errVersionsMissing}
}

// insertVersions inserts versions, and adds missing commits to rows. It inserts in the order of the versions, so that
// two transactions never deadlock.
func insertVersions(ctx context.Context, tx pgx.Tx, versions []observation.Version) error {
	for part := range slices.Chunk(versions, batch) {
		rows, err := json.Marshal(part)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO version
			(repo, path, content, version, commit, workload, application, workspace, build, committed_at, built_at)
			SELECT coalesce(repo, ''), coalesce(path, ''), coalesce(content, ''), coalesce(version, ''), commit, workload,
				application, workspace, build, committed_at, built_at
			FROM json_populate_recordset(NULL::version, $1::json)
			ON CONFLICT (repo, path, content, version) DO UPDATE SET
				commit = excluded.commit, committed_at = coalesce(version.committed_at, excluded.committed_at)
				WHERE version.commit IS NULL AND excluded.commit IS NOT NULL`, string(rows)); err != nil {
			return err
		}
	}
	return nil
}
