-- Records that are no decisions are found by their type: whether hooks are
-- switched off is asked at every stop of an agent.

CREATE INDEX ledger_type ON ledger (project, type, seq) WHERE decision_id IS NULL;
