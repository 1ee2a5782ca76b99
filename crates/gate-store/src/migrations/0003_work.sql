-- Work items, each with its latest lease. What phase an item is in is said by
-- the ledger; the row is what it is found and claimed by. Times are milliseconds
-- since 1970. An item can be claimed once `expires_at` is over: 0 of one that
-- nobody had in its phase yet, else when its last lease ended.

CREATE TABLE work (
    project     TEXT NOT NULL,
    id          TEXT NOT NULL,
    title       TEXT NOT NULL,
    description TEXT NOT NULL,
    phase       TEXT NOT NULL,
    blocked_in  TEXT,
    transitions BIGINT NOT NULL,
    added       BIGINT NOT NULL,
    seq         BIGINT NOT NULL,
    lease       TEXT,
    actor       TEXT,
    issued_at   BIGINT,
    expires_at  BIGINT NOT NULL,
    released    BIGINT NOT NULL,
    renewals    BIGINT NOT NULL,
    PRIMARY KEY (project, id)
);

CREATE UNIQUE INDEX work_added ON work (project, added);

-- In the order in which items are claimed.
CREATE INDEX work_claimable ON work (project, expires_at, added)
    WHERE phase IN ('DRAFT', 'IMPLEMENTATION', 'READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE');
