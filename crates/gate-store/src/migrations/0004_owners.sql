-- A breaker belongs to a loop, and what an operator holds to a task: the latest
-- record of either is asked for before each decision.

CREATE INDEX ledger_loop_step ON ledger (project, loop, seq)
    WHERE loop IS NOT NULL AND decision_id IS NULL;

CREATE INDEX ledger_task_hold ON ledger (project, task, seq)
    WHERE task IS NOT NULL AND loop IS NULL;
