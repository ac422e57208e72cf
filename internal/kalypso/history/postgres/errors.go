package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// The SQLSTATEs that are distinguished; see "PostgreSQL Error Codes".
const (
	serializationFailure  = "40001"
	deadlockDetected      = "40P01"
	uniqueViolation       = "23505"
	duplicateSchema       = "42P06"
	duplicateTable        = "42P07"
	insufficientPrivilege = "42501"
	readOnly              = "25006"
	notSupported          = "0A000" // a write to a standby
	invalidPassword       = "28P01"
	invalidAuthorization  = "28000"
	invalidCatalog        = "3D000"
	schemaMissing         = "42P01" // a table is missing
	tooManyConnections    = "53300"
	cannotConnectNow      = "57P03"
	adminShutdown         = "57P01"
	crashShutdown         = "57P02"
)

// SchemaFile names the file that creates the schema, in the provider's repo.
const SchemaFile = "examples/observability/schema.sql"

// advice returns what to do about an SQLSTATE.
var advice = map[string]string{
	insufficientPrivilege: "Grant the rights of a writer, or have another user create the schema: see " + SchemaFile + ".",
	notSupported:          "Let the URL name the primary server.",
	readOnly:              "Let the URL name the primary server.",
	invalidPassword:       "Check the user and the password: of the URL, PGPASSWORD or ~/.pgpass.",
	invalidAuthorization:  "Check the user and the password, and which users the server lets in (pg_hba.conf).",
	invalidCatalog:        "Create the database, or correct its name in the URL.",
	schemaMissing:         "Run the missing statements of " + SchemaFile + ".",
}

// mayRetry reports whether another attempt may succeed.
func mayRetry(err error) bool {
	var sql *pgconn.PgError
	if errors.As(err, &sql) {
		switch sql.Code {
		case serializationFailure, deadlockDetected, uniqueViolation, duplicateSchema, duplicateTable,
			tooManyConnections, cannotConnectNow, adminShutdown, crashShutdown:
			return true
		}
		return false
	}
	var own *refusal
	var certificate *tls.CertificateVerificationError
	return !errors.As(err, &own) && !errors.As(err, &certificate) && !hasNoTLS(err)
}

// hasNoTLS reports whether the server refused to encrypt the connection. pgx has no sentinel for it.
func hasNoTLS(err error) bool {
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) && strings.Contains(connect.Error(), "server refused TLS connection")
}

// verifiesByDefault is the end of TLS errors. Most URLs do not set sslmode, so their authors may not know the default.
const verifiesByDefault = "sslmode is verify-full, unless the URL or PGSSLMODE sets it"

// refusal is an error of ours that a retry can't fix.
type refusal struct{ error }

func (e *refusal) Unwrap() error { return e.error }

// wrap adds the server and advice to an error. It drops all text that may contain the password.
func (s *Store) wrap(ctx context.Context, err error) error {
	var sql *pgconn.PgError
	var own *refusal
	var certificate *tls.CertificateVerificationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return fmt.Errorf("%s: %w", s, own.error)
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w in time: %w", s, history.ErrUnavailable, ctx.Err())
	case errors.As(err, &certificate):
		return fmt.Errorf("%s: the server's certificate can't be verified: %w. Let sslrootcert in the URL name the file of "+
			"its authority, or sslmode=verify-ca if the name of the host is not in it; %s", s, certificate.Err,
			verifiesByDefault)
	case hasNoTLS(err):
		return fmt.Errorf("%s: the server has no TLS. Turn TLS on there, or set sslmode=disable in the URL of a server on "+
			"this machine; %s", s, verifiesByDefault)
	case errors.As(err, &sql):
		text := s.clean(sql.Message) + " (SQLSTATE " + sql.Code + ")"
		if a := advice[sql.Code]; a != "" {
			text += ". " + strings.TrimSuffix(a, ".")
		}
		if mayRetry(err) {
			return fmt.Errorf("%s: %w: %s", s, history.ErrUnavailable, text)
		}
		return fmt.Errorf("%s: %s", s, text)
	}
	return fmt.Errorf("%s: %w: %s", s, history.ErrUnavailable, s.clean(cause(err)))
}

// cause returns the text of an error without the user and the database, which pgx adds.
func cause(err error) string {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		err = connect.Unwrap()
	}
	return err.Error()
}

func (s *Store) clean(text string) string { return printable.Line(s.secrets.Redact(text)) }

// String names the server and the database.
func (s *Store) String() string {
	var servers []string
	add := func(host string, port uint16) {
		_, address := pgconn.NetworkAddress(host, port)
		servers = append(servers, address)
	}
	add(s.config.Host, s.config.Port)
	for _, f := range s.config.Fallbacks {
		add(f.Host, f.Port)
	}
	return fmt.Sprintf("PostgreSQL at %s, database %s, schema %s", strings.Join(slices.Compact(servers), ", "),
		pgx.Identifier{s.config.Database}.Sanitize(), pgx.Identifier{s.schema}.Sanitize())
}
