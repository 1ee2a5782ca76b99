-- Lost ends of ledgers. The machine that notices one tells the others.

CREATE TABLE gate_losses (
    project    TEXT NOT NULL PRIMARY KEY,
    marked     TEXT NOT NULL,
    found      TEXT NOT NULL,
    noticed_at TEXT NOT NULL,
    place      TEXT NOT NULL
);
