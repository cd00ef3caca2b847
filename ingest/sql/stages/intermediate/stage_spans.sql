-- Calls, stages, steps and blocks of pipelines, for `step_moments`.
-- One row: a span on its thread. `source_id` identifies the thread and the kind. `step` is the
-- event, or the number of a step. A step counts if it begins in a denoising loop, and it ends with
-- the loop at the latest.
-- Materialised: it is read more than once.
WITH
loops AS (
    SELECT * FROM stage_marks WHERE kind = 'stage' AND label = 'denoise'
),

spans AS (
    SELECT lane, 'call' AS kind, event_id AS step, start_ns, end_ns FROM pipeline_calls
    UNION ALL
    SELECT lane, kind, event_id AS step, start_ns, end_ns
    FROM stage_marks
    WHERE kind IN ('stage', 'block')
    UNION ALL
    SELECT
        loops.lane,
        'step' AS kind,
        steps.step,
        steps.start_ns,
        min(least(steps.start_ns + steps.dur_ns, loops.end_ns)) AS end_ns
    FROM loops
    INNER JOIN steps
        ON
            loops.source_id = steps.source_id
            AND loops.start_ns <= steps.start_ns
            AND loops.end_ns > steps.start_ns
    WHERE steps.steps_from = 'ProfilerStep'
    GROUP BY loops.lane, steps.step, steps.start_ns
)

SELECT hash(lane, kind) AS source_id, lane, kind, step, start_ns, end_ns - start_ns AS dur_ns
FROM spans;
