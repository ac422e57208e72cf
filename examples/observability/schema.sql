-- What ran where: the tables and views of the store "postgres" of kalypso_deployment_record.
--
-- The first record creates all this if its user may. Else run it as another user, in one transaction and a new schema:
--
--   psql --single-transaction --set ON_ERROR_STOP=1 \
--     --command 'CREATE SCHEMA kalypso' --command 'SET search_path = kalypso' --file schema.sql
--
-- and grant rights. Of a writer, the user in the provider's url, and of a reader, such as a dashboard:
--
--   GRANT USAGE ON SCHEMA kalypso TO writer, reader;
--   GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA kalypso TO writer;
--   GRANT SELECT ON kalypso.runs, kalypso.deployments TO reader;
--
-- The views are the interface. The tables may gain columns.

CREATE TABLE schema_version (
  version integer NOT NULL,
  min_writer integer NOT NULL -- a provider that knows only an older version must not write
);

CREATE TABLE environment (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  repo text NOT NULL,
  branch text NOT NULL,
  path text NOT NULL,
  observed_at timestamptz, -- of the last observation
  observation text -- its hash
);

CREATE TABLE observation (
  environment_id integer NOT NULL REFERENCES environment,
  observed_at timestamptz NOT NULL,
  head text NOT NULL,
  promoted_commit text,
  verdict text NOT NULL,
  verdict_since timestamptz,
  changes integer NOT NULL,
  PRIMARY KEY (environment_id, observed_at)
);

CREATE TABLE version (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  repo text NOT NULL,
  path text NOT NULL,
  content text NOT NULL,
  version text NOT NULL,
  commit text,
  committed_at timestamptz,
  workload text,
  application text,
  workspace text,
  build text,
  built_at timestamptz,
  UNIQUE (repo, path, content, version)
);

CREATE TABLE instance (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment_id integer NOT NULL REFERENCES environment,
  cluster text NOT NULL,
  cluster_type text NOT NULL,
  deployment_target text NOT NULL,
  UNIQUE (environment_id, deployment_target, cluster, cluster_type)
);
CREATE INDEX instance_cluster ON instance (environment_id, cluster);

CREATE TABLE run (
  instance_id bigint NOT NULL REFERENCES instance,
  since timestamptz NOT NULL,
  until timestamptz, -- NULL: it goes on
  version_id bigint REFERENCES version,
  state text NOT NULL,
  message text,
  PRIMARY KEY (instance_id, since)
);
CREATE UNIQUE INDEX run_open ON run (instance_id) WHERE until IS NULL;
CREATE INDEX run_since ON run (since);

CREATE TABLE delivery (
  environment_id integer NOT NULL REFERENCES environment,
  first_commit text NOT NULL,
  commit text NOT NULL,
  started_at timestamptz NOT NULL,
  delivered_at timestamptz,
  author text,
  kind text NOT NULL,
  promoted_commit text,
  previous_commit text,
  commits integer,
  reason text,
  lead_time_seconds bigint,
  running_at timestamptz,
  failed_at timestamptz,
  failed boolean NOT NULL,
  restored_at timestamptz,
  PRIMARY KEY (environment_id, first_commit)
);

CREATE VIEW runs AS
SELECT e.name AS environment, i.cluster, i.cluster_type, i.deployment_target, v.workspace, v.application, v.workload,
  v.version, v.repo, v.path, v.commit, v.committed_at, v.build, v.built_at, r.state, r.since, r.until, r.message,
  e.observed_at
FROM run r
JOIN instance i ON i.id = r.instance_id
JOIN environment e ON e.id = i.environment_id
LEFT JOIN version v ON v.id = r.version_id;

CREATE VIEW deployments AS
SELECT e.name AS environment, d.first_commit, d.commit, d.started_at, d.delivered_at, d.author, d.kind,
  d.promoted_commit, d.previous_commit, d.commits, d.reason, d.lead_time_seconds, d.running_at, d.failed_at, d.failed,
  d.restored_at
FROM delivery d
JOIN environment e ON e.id = d.environment_id;

INSERT INTO schema_version (version, min_writer) VALUES (1, 1);
