package postgres

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// Settings locate the server. Errors never contain the URL, since it may contain a password.
type Settings struct {
	URL     string          // postgres://user@host:port/database?sslmode=verify-full
	Schema  string          // "": kalypso
	Secrets *redact.Secrets // gets the password, to redact it in servers' messages; may be nil
}

// DefaultSchema is the schema of the tables.
const DefaultSchema = "kalypso"

// Errors of [Settings].
var (
	ErrURL = errors.New("the URL of PostgreSQL can't be parsed: it must look like " +
		"postgres://user@host:5432/database?sslmode=verify-full, with special characters percent-encoded")
	ErrInsecure = errors.New("the connection to PostgreSQL would not verify the server: remove sslmode from the URL and " +
		"PGSSLMODE from the environment, or set verify-full or verify-ca, with sslrootcert for a private authority")
	ErrSchema = errors.New("the schema must have 1 to 63 bytes, and must not start with pg_")
)

// Open returns a store. It contacts no server.
//
// Settings that are not in the URL come from the variables and files of PostgreSQL's own programs, such as PGPASSWORD
// and ~/.pgpass. sslmode is verify-full by default.
func Open(s Settings) (*Store, error) {
	s.Schema = cmp.Or(s.Schema, DefaultSchema)
	if err := CheckSchema(s.Schema); err != nil {
		return nil, err
	}
	config, err := parse(s.URL)
	if err != nil {
		return nil, err
	}
	s.Secrets = cmp.Or(s.Secrets, &redact.Secrets{})
	s.Secrets.Add(config.Password)
	return &Store{config: config, schema: s.Schema, secrets: s.Secrets}, nil
}

// CheckSchema returns [ErrSchema] for a name that PostgreSQL does not accept.
func CheckSchema(name string) error {
	if name == "" || len(name) > 63 || strings.HasPrefix(name, "pg_") || strings.Contains(name, "\x00") {
		return ErrSchema
	}
	return nil
}

// parse parses a URL, without quoting it in errors.
func parse(text string) (*pgx.ConnConfig, error) {
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		return nil, ErrURL
	}
	_, query, hasQuery := strings.Cut(text, "?")
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return nil, ErrURL
	}
	if !parameters.Has("sslmode") && !parameters.Has("ssl") && os.Getenv("PGSSLMODE") == "" {
		separator := "?"
		if hasQuery {
			separator = "&"
		}
		text += separator + "sslmode=verify-full"
	}
	config, err := pgx.ParseConfig(text)
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return nil, fmt.Errorf("a file that the URL of PostgreSQL or its variables name can't be read: %w", file)
	case err != nil:
		return nil, ErrURL
	}
	if !verified(config.Host, config.TLSConfig) {
		return nil, ErrInsecure
	}
	for _, f := range config.Fallbacks {
		if !verified(f.Host, f.TLSConfig) {
			return nil, ErrInsecure
		}
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "terraform-provider-kalypso"
	}
	// Use no prepared statements, since a connection pool may give each transaction another connection.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.StatementCacheCapacity, config.DescriptionCacheCapacity = 0, 0
	return config, nil
}

// verified reports whether a connection verifies the host, or does not leave this machine.
func verified(host string, c *tls.Config) bool {
	if giturl.IsLoopbackHost(host) || strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") { // "/", "@": a socket
		return true
	}
	return c != nil && (!c.InsecureSkipVerify || c.VerifyPeerCertificate != nil)
}

// attempts limits how often a transaction runs.
const attempts = 6

// backoff returns the wait after an attempt, counted from 0.
func backoff(attempt int) time.Duration {
	return clock.Backoff(100*time.Millisecond, time.Minute, attempt+1)
}

// transact runs f in a transaction. It runs f again if the server asks for a retry, or if the connection breaks. An
// earlier attempt may have committed although its answer was lost, so f must look at what is already written.
func (s *Store) transact(ctx context.Context, mode pgx.TxAccessMode, f func(pgx.Tx) error) error {
	for attempt := 0; ; attempt++ {
		err := s.attempt(ctx, mode, f)
		if err == nil || attempt == attempts-1 || ctx.Err() != nil || !mayRetry(err) {
			return s.wrap(ctx, err)
		}
		if clock.Sleep(ctx, backoff(attempt)) != nil {
			return s.wrap(ctx, err)
		}
	}
}

func (s *Store) attempt(ctx context.Context, mode pgx.TxAccessMode, f func(pgx.Tx) error) error {
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	conn.TypeMap().RegisterType(&pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC}})
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: mode}, func(tx pgx.Tx) error {
		const set = "SELECT set_config('search_path', $1, true), set_config('datestyle', 'ISO, YMD', true)"
		if _, err := tx.Exec(ctx, set, pgx.Identifier{s.schema}.Sanitize()); err != nil {
			return err
		}
		return f(tx)
	})
}
