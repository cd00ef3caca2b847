-- The time of each pipeline call, cut where its stage, step or block changes. Each interval belongs
-- to the innermost stage, step and block. A step or block counts only in the stage in which it
-- began.
-- One row: an interval on the calling thread. The intervals of a call add up to it.
-- Materialised: several relations read it.
WITH
moments AS (
    SELECT DISTINCT spans.lane, changes.from_ns
    FROM (SELECT DISTINCT lane, source_id FROM stage_spans) AS spans
    INNER JOIN stage_changes AS changes ON spans.source_id = changes.track
),

intervals AS (
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
        intervals.lane,
        intervals.start_ns,
        intervals.end_ns,
        calls.span AS call_id,
        stages.span AS stage_id,
        blocks.span AS block_id,
        steps.span AS step
    FROM intervals
    ASOF INNER JOIN stage_changes AS calls
        ON intervals.call_track = calls.track AND intervals.start_ns >= calls.from_ns
    ASOF LEFT JOIN stage_changes AS stages
        ON intervals.stage_track = stages.track AND intervals.start_ns >= stages.from_ns
    ASOF LEFT JOIN stage_changes AS blocks
        ON intervals.block_track = blocks.track AND intervals.start_ns >= blocks.from_ns
    ASOF LEFT JOIN stage_changes AS steps
        ON intervals.step_track = steps.track AND intervals.start_ns >= steps.from_ns
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
