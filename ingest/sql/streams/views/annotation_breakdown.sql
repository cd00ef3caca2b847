-- Device activities under each annotation, for example a `record_function` block. An activity
-- counts in the innermost annotation on its stream.
-- One row: an annotation by name on a stream, in a step or outside of steps.
--
-- run_id, rank, device, stream
-- step        step of the annotation (`steps.step`); null outside steps
-- name        name of the annotation
-- calls       number of annotations with this name
-- span_ns     sum of the durations of the annotations on the stream, ns
-- leaf_calls  number of annotations that contain no other annotation
-- leaf_ns     sum of the durations of the annotations that contain no other, ns
-- activities  number of kernels, copies and memsets that started in the annotation but in no
--             annotation inside it
-- device_ns   sum of the durations of `activities`, ns
WITH
annotations AS (
    SELECT
        run_id,
        source_id,
        rank,
        try_cast(pid AS BIGINT) AS device,
        try_cast(tid AS BIGINT) AS stream,
        event_id,
        name,
        step,
        start_ns,
        dur_ns,
        start_ns + dur_ns AS end_ns,
        coalesce(
            lead(start_ns) OVER (
                PARTITION BY run_id, source_id, pid, tid
                ORDER BY start_ns, dur_ns DESC, event_id
            ) >= start_ns + dur_ns,
            TRUE
        ) AS is_leaf
    FROM events
    WHERE category = 'gpu_user_annotation'
),

owned AS (
    SELECT
        kernel.run_id,
        max((around.start_ns, -around.dur_ns, around.event_id))[3] AS event_id,
        any_value(kernel.dur_ns) AS dur_ns
    FROM kernels AS kernel
    INNER JOIN annotations AS around
        ON
            kernel.run_id = around.run_id
            AND kernel.source_id = around.source_id
            AND kernel.device = around.device
            AND kernel.stream = around.stream
            AND kernel.start_ns >= around.start_ns
            AND kernel.start_ns < around.end_ns
    GROUP BY kernel.run_id, kernel.event_id
),

sums AS (
    SELECT run_id, event_id, count(*) AS activities, sum(dur_ns) AS device_ns
    FROM owned
    GROUP BY run_id, event_id
)

SELECT
    annotation.run_id,
    annotation.rank,
    annotation.device,
    annotation.stream,
    annotation.step,
    annotation.name,
    count(*) AS calls,
    sum(annotation.dur_ns)::BIGINT AS span_ns,
    count(*) FILTER (WHERE annotation.is_leaf) AS leaf_calls,
    coalesce(sum(annotation.dur_ns) FILTER (WHERE annotation.is_leaf), 0)::BIGINT AS leaf_ns,
    coalesce(sum(sums.activities), 0)::BIGINT AS activities,
    coalesce(sum(sums.device_ns), 0)::BIGINT AS device_ns
FROM annotations AS annotation
LEFT JOIN sums
    ON annotation.run_id = sums.run_id AND annotation.event_id = sums.event_id
GROUP BY ALL;
