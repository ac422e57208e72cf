--
-- PostgreSQL database dump
--



-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: kalypso; Type: SCHEMA; Schema: -; Owner: owner
--

CREATE SCHEMA kalypso;


ALTER SCHEMA kalypso OWNER TO owner;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: delivery; Type: TABLE; Schema: kalypso; Owner: owner
--

CREATE TABLE kalypso.delivery (
    environment_id integer NOT NULL,
    first_commit text NOT NULL,
    commit text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    delivered_at timestamp with time zone,
    author text,
    kind text NOT NULL,
    promoted_commit text,
    previous_commit text,
    commits integer,
    reason text,
    lead_time_seconds bigint,
    running_at timestamp with time zone,
    failed_at timestamp with time zone,
    failed boolean NOT NULL,
    restored_at timestamp with time zone
);


ALTER TABLE kalypso.delivery OWNER TO owner;

--
-- Name: environment; Type: TABLE; Schema: kalypso; Owner: owner
--

CREATE TABLE kalypso.environment (
    id integer NOT NULL,
    name text NOT NULL,
    repo text NOT NULL,
    branch text NOT NULL,
    path text NOT NULL,
    observed_at timestamp with time zone,
    observation text
);


ALTER TABLE kalypso.environment OWNER TO owner;

--
-- Name: deployments; Type: VIEW; Schema: kalypso; Owner: owner
--

CREATE VIEW kalypso.deployments AS
 SELECT e.name AS environment,
    d.first_commit,
    d.commit,
    d.started_at,
    d.delivered_at,
    d.author,
    d.kind,
    d.promoted_commit,
    d.previous_commit,
    d.commits,
    d.reason,
    d.lead_time_seconds,
    d.running_at,
    d.failed_at,
    d.failed,
    d.restored_at
   FROM (kalypso.delivery d
     JOIN kalypso.environment e ON ((e.id = d.environment_id)));


ALTER TABLE kalypso.deployments OWNER TO owner;

--
-- Name: environment_id_seq; Type: SEQUENCE; Schema: kalypso; Owner: owner
--

ALTER TABLE kalypso.environment ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME kalypso.environment_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: instance; Type: TABLE; Schema: kalypso; Owner: owner
--

CREATE TABLE kalypso.instance (
    id bigint NOT NULL,
    environment_id integer NOT NULL,
    cluster text NOT NULL,
    cluster_type text NOT NULL,
    deployment_target text NOT NULL
);


ALTER TABLE kalypso.instance OWNER TO owner;

--
-- Name: instance_id_seq; Type: SEQUENCE; Schema: kalypso; Owner: owner
--

ALTER TABLE kalypso.instance ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME kalypso.instance_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: observation; Type: TABLE; Schema: kalypso; Owner: owner
--

CREATE TABLE kalypso.observation (
    environment_id integer NOT NULL,
    observed_at timestamp with time zone NOT NULL,
    head text NOT NULL,
    promoted_commit text,
    verdict text NOT NULL,
    verdict_since timestamp with time zone,
    changes integer NOT NULL
);


ALTER TABLE kalypso.observation OWNER TO owner;

--
-- Name: run; Type: TABLE; Schema: kalypso; Owner: owner
--

CREATE TABLE kalypso.run (
    instance_id bigint NOT NULL,
    since timestamp with time zone NOT NULL,
    until timestamp with time zone,
    version_id bigint,
    state text NOT NULL,
    message text
);


ALTER TABLE kalypso.run OWNER TO owner;

--
-- Name: version; Type: TABLE; Schema: kalypso; Owner: owner
--

CREATE TABLE kalypso.version (
    id bigint NOT NULL,
    repo text NOT NULL,
    path text NOT NULL,
    content text NOT NULL,
    version text NOT NULL,
    commit text,
    committed_at timestamp with time zone,
    workload text,
    application text,
    workspace text,
    build text,
    built_at timestamp with time zone
);


ALTER TABLE kalypso.version OWNER TO owner;

--
-- Name: runs; Type: VIEW; Schema: kalypso; Owner: owner
--

CREATE VIEW kalypso.runs AS
 SELECT e.name AS environment,
    i.cluster,
    i.cluster_type,
    i.deployment_target,
    v.workspace,
    v.application,
    v.workload,
    v.version,
    v.repo,
    v.path,
    v.commit,
    v.committed_at,
    v.build,
    v.built_at,
    r.state,
    r.since,
    r.until,
    r.message,
    e.observed_at
   FROM (((kalypso.run r
     JOIN kalypso.instance i ON ((i.id = r.instance_id)))
     JOIN kalypso.environment e ON ((e.id = i.environment_id)))
     LEFT JOIN kalypso.version v ON ((v.id = r.version_id)));


ALTER TABLE kalypso.runs OWNER TO owner;

--
-- Name: schema_version; Type: TABLE; Schema: kalypso; Owner: owner
--

CREATE TABLE kalypso.schema_version (
    version integer NOT NULL,
    min_writer integer NOT NULL
);


ALTER TABLE kalypso.schema_version OWNER TO owner;

--
-- Name: version_id_seq; Type: SEQUENCE; Schema: kalypso; Owner: owner
--

ALTER TABLE kalypso.version ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME kalypso.version_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Data for Name: delivery; Type: TABLE DATA; Schema: kalypso; Owner: owner
--



--
-- Data for Name: environment; Type: TABLE DATA; Schema: kalypso; Owner: owner
--

INSERT INTO kalypso.environment OVERRIDING SYSTEM VALUE VALUES (1, 'stage', 'file:///tmp/kalypso-upgrade-984955a5/gitops.git', 'stage', '.', '2026-11-28 21:02:30.978+00', '082e73b83f510cb5460e92accfe006a44a517cae671488431f5cd2b4c2109b3c');


--
-- Data for Name: instance; Type: TABLE DATA; Schema: kalypso; Owner: owner
--

INSERT INTO kalypso.instance OVERRIDING SYSTEM VALUE VALUES (1, 1, 'drone-1', 'drone', '');
INSERT INTO kalypso.instance OVERRIDING SYSTEM VALUE VALUES (2, 1, 'drone-1', 'drone', 'shop-web');
INSERT INTO kalypso.instance OVERRIDING SYSTEM VALUE VALUES (3, 1, 'drone-1', 'drone', 'web');


--
-- Data for Name: observation; Type: TABLE DATA; Schema: kalypso; Owner: owner
--

INSERT INTO kalypso.observation VALUES (1, '2026-11-28 21:02:02.446+00', '5e2a72978bc3ef0911afe3ef76e84298070de0d9', NULL, 'pending', '2026-11-28 21:02:02.446+00', 0);
INSERT INTO kalypso.observation VALUES (1, '2026-11-28 21:02:08.146+00', '5e2a72978bc3ef0911afe3ef76e84298070de0d9', NULL, 'success', '2026-11-28 21:02:01+00', 3);
INSERT INTO kalypso.observation VALUES (1, '2026-11-28 21:02:20.429+00', 'd299b5c48fe647be714de38251cb0f089cb4b467', NULL, 'pending', '2026-11-28 21:02:18+00', 3);
INSERT INTO kalypso.observation VALUES (1, '2026-11-28 21:02:30.978+00', 'd299b5c48fe647be714de38251cb0f089cb4b467', NULL, 'success', '2026-11-28 21:02:18+00', 3);


--
-- Data for Name: run; Type: TABLE DATA; Schema: kalypso; Owner: owner
--

INSERT INTO kalypso.run VALUES (1, '2026-11-25 12:00:00+00', '2026-11-28 21:02:20.429+00', 2, 'current', NULL);
INSERT INTO kalypso.run VALUES (2, '2026-11-25 12:00:00+00', '2026-11-28 21:02:20.429+00', 3, 'current', NULL);
INSERT INTO kalypso.run VALUES (3, '2026-11-25 12:00:00+00', '2026-11-28 21:02:20.429+00', 1, 'current', NULL);
INSERT INTO kalypso.run VALUES (1, '2026-11-28 21:02:20.429+00', '2026-11-28 21:02:30.978+00', 2, 'progressing', 'it runs an older tree of the folder');
INSERT INTO kalypso.run VALUES (1, '2026-11-28 21:02:30.978+00', NULL, 5, 'current', NULL);
INSERT INTO kalypso.run VALUES (2, '2026-11-28 21:02:20.429+00', '2026-11-28 21:02:30.978+00', 3, 'progressing', 'it runs an older tree of the folder');
INSERT INTO kalypso.run VALUES (2, '2026-11-28 21:02:30.978+00', NULL, 6, 'current', NULL);
INSERT INTO kalypso.run VALUES (3, '2026-11-28 21:02:20.429+00', '2026-11-28 21:02:30.978+00', 1, 'progressing', 'it runs an older tree of the folder');
INSERT INTO kalypso.run VALUES (3, '2026-11-28 21:02:30.978+00', NULL, 4, 'current', NULL);


--
-- Data for Name: schema_version; Type: TABLE DATA; Schema: kalypso; Owner: owner
--

INSERT INTO kalypso.schema_version VALUES (1, 1);


--
-- Data for Name: version; Type: TABLE DATA; Schema: kalypso; Owner: owner
--

INSERT INTO kalypso.version OVERRIDING SYSTEM VALUE VALUES (1, '', '', '', '1.1', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO kalypso.version OVERRIDING SYSTEM VALUE VALUES (2, 'file:///tmp/kalypso-upgrade-984955a5/gitops.git', 'drone', 'a0c5160c9b03989889de68d739575b5625f68122', 'a0c5160c9b03', '5e2a72978bc3ef0911afe3ef76e84298070de0d9', '2026-11-28 21:02:01+00', NULL, NULL, NULL, NULL, NULL);
INSERT INTO kalypso.version OVERRIDING SYSTEM VALUE VALUES (3, 'file:///tmp/kalypso-upgrade-984955a5/gitops.git', 'drone/shop-web', 'f442a3f43d877cc819f2bc59e5ce675e4d3a4f2a', 'f442a3f43d87', '5e2a72978bc3ef0911afe3ef76e84298070de0d9', '2026-11-28 21:02:01+00', NULL, NULL, NULL, NULL, NULL);
INSERT INTO kalypso.version OVERRIDING SYSTEM VALUE VALUES (4, '', '', '', '1.2', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO kalypso.version OVERRIDING SYSTEM VALUE VALUES (5, 'file:///tmp/kalypso-upgrade-984955a5/gitops.git', 'drone', 'ebee6c2b61a528084b52c15b0dc1145e8a414971', 'ebee6c2b61a5', 'd299b5c48fe647be714de38251cb0f089cb4b467', '2026-11-28 21:02:18+00', NULL, NULL, NULL, NULL, NULL);
INSERT INTO kalypso.version OVERRIDING SYSTEM VALUE VALUES (6, 'file:///tmp/kalypso-upgrade-984955a5/gitops.git', 'drone/shop-web', '582c293ab533f0bccaafad311200c1b60c1915a2', '582c293ab533', 'd299b5c48fe647be714de38251cb0f089cb4b467', '2026-11-28 21:02:18+00', NULL, NULL, NULL, NULL, NULL);


--
-- Name: environment_id_seq; Type: SEQUENCE SET; Schema: kalypso; Owner: owner
--

SELECT pg_catalog.setval('kalypso.environment_id_seq', 6, true);


--
-- Name: instance_id_seq; Type: SEQUENCE SET; Schema: kalypso; Owner: owner
--

SELECT pg_catalog.setval('kalypso.instance_id_seq', 3, true);


--
-- Name: version_id_seq; Type: SEQUENCE SET; Schema: kalypso; Owner: owner
--

SELECT pg_catalog.setval('kalypso.version_id_seq', 6, true);


--
-- Name: delivery delivery_pkey; Type: CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (environment_id, first_commit);


--
-- Name: environment environment_name_key; Type: CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.environment
    ADD CONSTRAINT environment_name_key UNIQUE (name);


--
-- Name: environment environment_pkey; Type: CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.environment
    ADD CONSTRAINT environment_pkey PRIMARY KEY (id);


--
-- Name: instance instance_environment_id_deployment_target_cluster_cluster_t_key; Type: CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.instance
    ADD CONSTRAINT instance_environment_id_deployment_target_cluster_cluster_t_key UNIQUE (environment_id, deployment_target, cluster, cluster_type);


--
-- Name: instance instance_pkey; Type: CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.instance
    ADD CONSTRAINT instance_pkey PRIMARY KEY (id);


--
-- Name: observation observation_pkey; Type: CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.observation
    ADD CONSTRAINT observation_pkey PRIMARY KEY (environment_id, observed_at);


--
-- Name: run run_pkey; Type: CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (instance_id, since);


--
-- Name: version version_pkey; Type: CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.version
    ADD CONSTRAINT version_pkey PRIMARY KEY (id);


--
-- Name: version version_repo_path_content_version_key; Type: CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.version
    ADD CONSTRAINT version_repo_path_content_version_key UNIQUE (repo, path, content, version);


--
-- Name: instance_cluster; Type: INDEX; Schema: kalypso; Owner: owner
--

CREATE INDEX instance_cluster ON kalypso.instance USING btree (environment_id, cluster);


--
-- Name: run_open; Type: INDEX; Schema: kalypso; Owner: owner
--

CREATE UNIQUE INDEX run_open ON kalypso.run USING btree (instance_id) WHERE (until IS NULL);


--
-- Name: run_since; Type: INDEX; Schema: kalypso; Owner: owner
--

CREATE INDEX run_since ON kalypso.run USING btree (since);


--
-- Name: delivery delivery_environment_id_fkey; Type: FK CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.delivery
    ADD CONSTRAINT delivery_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES kalypso.environment(id);


--
-- Name: instance instance_environment_id_fkey; Type: FK CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.instance
    ADD CONSTRAINT instance_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES kalypso.environment(id);


--
-- Name: observation observation_environment_id_fkey; Type: FK CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.observation
    ADD CONSTRAINT observation_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES kalypso.environment(id);


--
-- Name: run run_instance_id_fkey; Type: FK CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.run
    ADD CONSTRAINT run_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES kalypso.instance(id);


--
-- Name: run run_version_id_fkey; Type: FK CONSTRAINT; Schema: kalypso; Owner: owner
--

ALTER TABLE ONLY kalypso.run
    ADD CONSTRAINT run_version_id_fkey FOREIGN KEY (version_id) REFERENCES kalypso.version(id);


--
-- PostgreSQL database dump complete
--



