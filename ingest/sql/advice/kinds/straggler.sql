-- Meaning: Time by which the straggler comes later to collectives than the next rank.
-- Title: The other ranks wait for this one
-- Short title: straggler
-- Colour: exposed_communication
-- Applies to: device, host
-- Needs: matches
-- Path text: the lateness of this rank in collectives
-- Finding in any case: It comes last because of {name}, which takes {longer} longer than in the
--   other ranks.
-- Finding in any case: What takes it longer than the other ranks is unknown.
-- Finding: The other ranks wait for it.
-- Remedy: Give it less work if it does more than the others. If the same work takes longer, compare
--   its device, host and inputs with theirs. Page Ranks and the command ingest ranks show what
--   takes longer.
WITH causes AS (
    SELECT
        run_id,
        max(name) FILTER (WHERE level = 'part' AND place = 1) AS part,
        max(excess_ns) FILTER (WHERE level = 'part' AND place = 1) AS excess_ns,
        -- Operators explain computation.
        max(
            format(
                '{}, {} calls',
                name,
                CASE
                    WHEN is_slower THEN 'as many'
                    WHEN step_calls > other_step_calls THEN 'more'
                    ELSE 'fewer'
                END
            )
        ) FILTER (WHERE level = 'op' AND place = 1) AS op
    FROM (
        SELECT
            *,
            row_number() OVER (PARTITION BY run_id, level ORDER BY excess_ns DESC, name) AS place
        FROM straggler_causes
        WHERE cost_percent >= 10
    )
    GROUP BY run_id
),

late_steps AS (
    SELECT run_id, source_id, step, sum(late_ns) AS late_ns
    FROM collectives
    WHERE late_ns IS NOT NULL AND peer_rank IS NULL
    GROUP BY run_id, source_id, step
)

SELECT
    metrics.run_id,
    metrics.device_id,
    metrics.rank,
    metrics.device,
    step.step,
    step.is_median,
    if(
        late.is_straggler AND metrics.is_slowest_of_rank,
        least(coalesce(late_steps.late_ns, 0), step.wall_ns),
        0
    ) AS gain_ns,
    if(
        causes.part IN ('compute', 'compiled_code'),
        concat(causes.part, ' (' || causes.op || ')'),
        causes.part
    ) AS name,
    causes.excess_ns AS named_ns
FROM run_metrics AS metrics
INNER JOIN runs ON metrics.run_id = runs.run_id
LEFT JOIN stragglers AS late ON metrics.run_id = late.run_id AND metrics.rank = late.rank
INNER JOIN step_metrics AS step
    ON metrics.run_id = step.run_id AND metrics.device_id = step.device_id
LEFT JOIN causes ON metrics.run_id = causes.run_id AND late.is_straggler
LEFT JOIN late_steps
    ON
        step.run_id = late_steps.run_id
        AND step.source_id = late_steps.source_id
        AND step.step IS NOT DISTINCT FROM late_steps.step
-- Nobody waits for a rank that is alone.
WHERE step.start_ns IS NOT NULL AND (late.rank IS NOT NULL OR runs.world_size = 1);
