-- Collectives that the host computes, such as those of Gloo.
-- One row: a call, with its work on a thread of the library. `root_rank` and `peer` are places in
-- the process group, from 0.
--
-- The calls of a kind run in the order in which they were made, so the n-th work of a kind belongs
-- to its n-th operator. A work that began before its operator belongs to a call from before the
-- recording: then the operators of this kind are unknown.
WITH
works AS (
    SELECT *, row_number() OVER (PARTITION BY source_id, kind ORDER BY start_ns, event_id) AS place
    FROM library_works
    WHERE kind IS NOT NULL
),

paired AS (
    SELECT
        works.*,
        op.event_id AS op_id,
        op.start_ns AS called_ns,
        try_cast(calls.concrete_inputs AS VARCHAR[]) AS arguments
    FROM works
    LEFT JOIN c10d_ops AS op USING (source_id, kind, place)
    LEFT JOIN staged_calls AS calls ON op.event_id = calls.event_id
)

SELECT
    paired.source_id,
    paired.rank,
    paired.event_id,
    if(bool_and(paired.called_ns <= paired.start_ns) OVER of_kind, paired.op_id, NULL) AS op_id,
    paired.kind,
    paired.start_ns,
    paired.end_ns - paired.start_ns AS dur_ns,
    try_cast(calls.input_dims AS DOUBLE[][]) AS input_sizes,
    try_cast(calls.input_types AS VARCHAR[]) AS input_types,
    CASE paired.kind
        WHEN 'broadcast' THEN within(try_cast(paired.arguments[3] AS INTEGER), 0, 999_999)
        WHEN 'reduce' THEN within(try_cast(paired.arguments[4] AS INTEGER), 0, 999_999)
    END AS root_rank,
    CASE
        WHEN
            paired.kind IN ('send', 'recv')
            THEN within(try_cast(paired.arguments[3] AS INTEGER), 0, 999_999)
    END AS peer
FROM paired
LEFT JOIN staged_calls AS calls ON paired.event_id = calls.event_id
WINDOW of_kind AS (PARTITION BY paired.source_id, paired.kind);
