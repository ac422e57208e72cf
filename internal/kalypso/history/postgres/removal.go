package postgres

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// removal removes the records of an environment after a time. It also removes the last observation, so that the next
// record compares all instances.
const removal = `BEGIN;
DELETE FROM $schema.run r USING $schema.instance i, $schema.environment e
  WHERE i.id = r.instance_id AND e.id = i.environment_id AND e.name = $name AND r.since > $after;
UPDATE $schema.run r SET until = NULL FROM $schema.instance i, $schema.environment e
  WHERE i.id = r.instance_id AND e.id = i.environment_id AND e.name = $name AND r.until > $after;
DELETE FROM $schema.observation o USING $schema.environment e
  WHERE e.id = o.environment_id AND e.name = $name AND o.observed_at > $after;
UPDATE $schema.environment SET observed_at = NULL, observation = NULL WHERE name = $name;
COMMIT;`

// RemovalSteps implements [history.Store].
func (s *Store) RemovalSteps(environment string, after time.Time) string {
	sql := strings.NewReplacer("$schema", pgx.Identifier{s.schema}.Sanitize(), "$name", literal(environment),
		"$after", literal(after.UTC().Format(time.RFC3339Nano))).Replace(removal)
	lines := strings.Split(sql, "\n")
	for i, line := range lines {
		lines[i] = "  " + printable.Line(line) // Terraform does not wrap lines that begin with a space
	}
	return "run as the owner of the schema:\n\n" + strings.Join(lines, "\n")
}

// literal quotes a text for SQL. The text may come from the GitOps branch, so it must not be able to end the literal,
// whatever the server's settings.
func literal(text string) string {
	quoted := "'" + strings.ReplaceAll(printable.Line(text), "'", "''") + "'"
	if strings.Contains(quoted, `\`) {
		quoted = "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}
