-- The first schema: one ledger a project, and the policies that its decisions
-- were made under. The same text for SQLite and PostgreSQL.

CREATE TABLE gate_schema (
    version BIGINT NOT NULL PRIMARY KEY
);

-- A record as it is exported, and after its hash what it is found by.
CREATE TABLE ledger (
    project     TEXT NOT NULL,
    seq         BIGINT NOT NULL,
    v           BIGINT NOT NULL,
    time        TEXT NOT NULL,
    type        TEXT NOT NULL,
    run         TEXT,
    actor       TEXT NOT NULL,
    body        TEXT NOT NULL,
    prev        TEXT NOT NULL,
    hash        TEXT NOT NULL,
    task        TEXT,
    loop        TEXT,
    iteration   BIGINT,
    decision_id TEXT,
    PRIMARY KEY (project, seq)
);

-- One decision for an iteration of a run.
CREATE UNIQUE INDEX ledger_decision ON ledger (project, run, iteration)
    WHERE iteration IS NOT NULL AND decision_id IS NOT NULL;

CREATE INDEX ledger_loop ON ledger (project, loop, seq)
    WHERE loop IS NOT NULL AND decision_id IS NOT NULL;

CREATE INDEX ledger_task ON ledger (project, task, seq)
    WHERE task IS NOT NULL;

CREATE TABLE policies (
    digest TEXT NOT NULL PRIMARY KEY,
    text   TEXT NOT NULL
);
