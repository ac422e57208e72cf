package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
)

// versionKey identifies a version in the table.
type versionKey struct{ repo, path, content, version string }

func keyOf(v observation.Version) versionKey { return versionKey{v.Repo, v.Path, v.Content, v.Version} }

// findVersions looks up the versions in changes. It returns the versions that the table lacks, sorted, with
// [errVersionsMissing]. A version that is named by its commit is also missing if its row has no commit.
func (w *writer) findVersions(changes []history.InstanceChange) (missing []observation.Version, err error) {
	wanted := map[versionKey]observation.Version{}
	for _, c := range changes {
		key := keyOf(c.To.Version)
		if c.To.Version != (observation.Version{}) && !wanted[key].OfCommit() {
			wanted[key] = c.To.Version
		}
	}
	if w.versions, err = selectVersions(w.ctx, w.Tx, wanted); err != nil {
		return nil, err
	}
	for key, v := range wanted {
		if _, there := w.versions[key]; !there {
			missing = append(missing, v)
		}
	}
	if len(missing) > 0 {
		slices.SortFunc(missing, func(a, b observation.Version) int { return keyOf(a).compare(keyOf(b)) })
		return missing, &refusal{errVersionsMissing}
	}
	return nil, nil
}

func (k versionKey) compare(other versionKey) int {
	return cmp.Or(cmp.Compare(k.repo, other.repo), cmp.Compare(k.path, other.path),
		cmp.Compare(k.content, other.content), cmp.Compare(k.version, other.version))
}

// versionID returns the ID of a version that was found; nil for the zero version.
func (w *writer) versionID(v observation.Version) *int64 {
	if id, there := w.versions[keyOf(v)]; there && v != (observation.Version{}) {
		return &id
	}
	return nil
}

// selectVersions returns the IDs of versions in the table. It leaves out rows without a commit for versions that are
// named by their commit (see [observation.Version.OfCommit]), since such a row means another version.
func selectVersions(
	ctx context.Context, tx pgx.Tx, wanted map[versionKey]observation.Version,
) (map[versionKey]int64, error) {
	var columns [4][]string
	for key := range wanted {
		for i, text := range []string{key.repo, key.path, key.content, key.version} {
			columns[i] = append(columns[i], text)
		}
	}
	rows, _ := tx.Query(ctx, `SELECT v.id, v.repo, v.path, v.content, v.version, v.commit IS NOT NULL
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS x (repo, path, content, version)
		JOIN version v ON v.repo = x.repo AND v.path = x.path AND v.content = x.content AND v.version = x.version`,
		columns[0], columns[1], columns[2], columns[3])
	found := map[versionKey]int64{}
	var id int64
	var key versionKey
	var hasCommit bool
	row := []any{&id, &key.repo, &key.path, &key.content, &key.version, &hasCommit}
	_, err := pgx.ForEachRow(rows, row, func() error {
		if hasCommit || !wanted[key].OfCommit() {
			found[key] = id
		}
		return nil
	})
	return found, err
}

// insertVersions inserts versions, and adds missing commits to rows. It inserts in the order of the versions, so that
// two transactions never deadlock.
func insertVersions(ctx context.Context, tx pgx.Tx, versions []observation.Version) error {
	for part := range slices.Chunk(versions, batch) {
		var texts [9][]string
		var times [2][]*time.Time
		for _, v := range part {
			for i, text := range []string{v.Repo, v.Path, v.Content, v.Version, v.Commit, v.Workload, v.Application,
				v.Workspace, v.Build} {
				texts[i] = append(texts[i], text)
			}
			times[0] = append(times[0], timeOrNull(v.CommittedAt))
			times[1] = append(times[1], timeOrNull(v.BuiltAt))
		}
		if _, err := tx.Exec(ctx, `INSERT INTO version
			(repo, path, content, version, commit, workload, application, workspace, build, committed_at, built_at)
			SELECT repo, path, content, version, nullif(commit, ''), nullif(workload, ''), nullif(application, ''),
				nullif(workspace, ''), nullif(build, ''), committed_at, built_at
			FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
				$9::text[], $10::timestamptz[], $11::timestamptz[])
				AS x (repo, path, content, version, commit, workload, application, workspace, build, committed_at, built_at)
			ON CONFLICT (repo, path, content, version) DO UPDATE SET
				commit = excluded.commit, committed_at = coalesce(version.committed_at, excluded.committed_at)
				WHERE version.commit IS NULL AND excluded.commit IS NOT NULL`,
			texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], texts[6], texts[7], texts[8], times[0], times[1],
		); err != nil {
			return err
		}
	}
	return nil
}
