-- Decisions for people with a SQL client or a dashboard: one row a decision, its columns read
-- from the record's body. gate itself does not read it. The book's page "SQL" describes the
-- columns. `->` and `->>` are what both databases have: SQLite since 3.38. `addition.rs` puts
-- before this text how the view begins in each database: `parsed` is the ledger with the body's
-- decision as JSON, parsed once a row.

SELECT
    project,
    seq,
    decision_id,
    run,
    loop,
    NULLIF(task, '') AS task,
    iteration,
    time,
    decision ->> 'verdict' AS verdict,
    decision ->> 'released' AS released,
    CASE CAST(decision -> 'forced' AS TEXT) WHEN 'true' THEN 1 ELSE 0 END AS forced,
    CASE CAST(decision -> 'verified' AS TEXT) WHEN 'true' THEN 1 ELSE 0 END AS verified,
    decision -> 'signal' ->> 'status' AS signal,
    -- The codes of all reasons, in their order, with a space between two. The two databases
    -- share no function that joins texts.
    (WITH RECURSIVE listed (number, codes) AS (
        SELECT 0, decision -> 'reasons' -> 0 ->> 'code'
        UNION ALL
        SELECT number + 1, codes || ' ' || (decision -> 'reasons' -> (number + 1) ->> 'code')
        FROM listed
        WHERE decision -> 'reasons' -> (number + 1) IS NOT NULL
    )
    SELECT codes FROM listed ORDER BY number DESC LIMIT 1) AS reasons,
    decision -> 'reasons' -> 0 ->> 'message' AS why,
    decision -> 'transcript' ->> 'format' AS agent,
    decision -> 'transcript' ->> 'model' AS model,
    decision -> 'transcript' ->> 'session' AS session,
    -- A transcript reports the sums of its session: an iteration used what they grew by. A sum
    -- that shrank began anew.
    CASE WHEN tokens < earlier_tokens THEN tokens ELSE tokens - earlier_tokens END AS tokens,
    CASE WHEN cost < earlier_cost THEN cost ELSE cost - earlier_cost END AS cost_micro_usd,
    CAST(decision -> 'transcript' ->> 'duration_ms' AS BIGINT) AS agent_ms,
    CAST(decision ->> 'duration_ms' AS BIGINT) AS decision_ms,
    decision -> 'breaker' ->> 'state' AS breaker,
    decision ->> 'trust' AS trust,
    decision ->> 'policy_digest' AS policy_digest,
    decision ->> 'gate_version' AS gate_version
FROM (
    SELECT
        project, seq, decision_id, run, loop, task, iteration, time, decision,
        CAST(decision -> 'observed' ->> 'tokens' AS BIGINT) AS tokens,
        CAST(decision -> 'observed' ->> 'cost_micro_usd' AS BIGINT) AS cost,
        CASE WHEN goes_on
            THEN CAST(spent ->> 'session_tokens' AS BIGINT) ELSE 0 END AS earlier_tokens,
        CASE WHEN goes_on
            THEN CAST(spent ->> 'session_cost_micro_usd' AS BIGINT) ELSE 0 END AS earlier_cost
    FROM (
        SELECT
            project, seq, decision_id, run, loop, task, iteration, time, decision,
            decision -> 'memory' -> 'run' -> 'spent' AS spent,
            decision -> 'observed' ->> 'session'
                = decision -> 'memory' -> 'run' -> 'spent' ->> 'session' AS goes_on
        FROM (
            SELECT project, seq, decision_id, run, loop, task, iteration, time, decision
            FROM parsed
            -- Not the ledgers that were set aside.
            WHERE decision_id IS NOT NULL AND project NOT LIKE '% (set aside: %'
        ) AS decided
    ) AS sessions
) AS sums;
