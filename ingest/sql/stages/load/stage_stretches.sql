-- The time of each call of a pipeline, cut where its stage, step or block changes: each moment
-- belongs to the innermost of each. A step or block counts in the stage in which it began.
-- One row: a stretch of time on the thread of the call. The stretches of a call add up to it.
-- Materialised: several relations read it.
WITH
moments AS (
    SELECT DISTINCT spans.lane, changes.from_ns
    FROM (SELECT DISTINCT lane, source_id FROM stage_spans) AS spans
    INNER JOIN stage_changes AS changes ON spans.source_id = changes.track
),

stretches AS (
    SELECT
        lane,
        from_ns AS start_ns,
        lead(from_ns) OVER (PARTITION BY lane ORDER BY from_ns) AS end_ns,
        hash(lane, 'call') AS call_track,
        hash(lane, 'stage') AS stage_track,
        hash(lane, 'step') AS step_track,
        hash(lane, 'block') AS block_track
    FROM moments
),

spans AS (
    SELECT
        stretches.lane,
        stretches.start_ns,
        stretches.end_ns,
        calls.span AS call_id,
        stages.span AS stage_id,
        blocks.span AS block_id,
        steps.span AS step
    FROM stretches
    ASOF INNER JOIN stage_changes AS calls
        ON stretches.call_track = calls.track AND stretches.start_ns >= calls.from_ns
    ASOF LEFT JOIN stage_changes AS stages
        ON stretches.stage_track = stages.track AND stretches.start_ns >= stages.from_ns
    ASOF LEFT JOIN stage_changes AS blocks
        ON stretches.block_track = blocks.track AND stretches.start_ns >= blocks.from_ns
    ASOF LEFT JOIN stage_changes AS steps
        ON stretches.step_track = steps.track AND stretches.start_ns >= steps.from_ns
    WHERE calls.span IS NOT NULL
)

SELECT
    calls.source_id,
    calls.rank,
    spans.lane,
    calls.pipeline,
    calls.call,
    coalesce(stages.label, 'other') AS stage,
    steps.step,
    blocks.label AS block_class,
    coalesce(blocks.event_id, steps.step, stages.event_id, 0) AS occurrence,
    spans.start_ns,
    spans.end_ns
FROM spans
INNER JOIN pipeline_calls AS calls ON spans.call_id = calls.event_id
LEFT JOIN stage_marks AS stages
    ON spans.stage_id = stages.event_id AND calls.start_ns <= stages.start_ns
LEFT JOIN steps
    ON
        calls.source_id = steps.source_id
        AND spans.step = steps.step
        AND stages.label = 'denoise'
        AND stages.start_ns <= steps.start_ns
LEFT JOIN stage_marks AS blocks
    ON
        spans.block_id = blocks.event_id
        AND blocks.start_ns >= coalesce(stages.start_ns, calls.start_ns);
