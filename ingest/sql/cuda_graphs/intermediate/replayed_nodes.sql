-- What each device activity of a graph launch replays.
-- One row: an activity with a known operator, module or annotation.
-- Materialised: it is joined, and DuckDB then knows its size.
--
-- It is known from a capture, from an annotation of the graph's node, or both. If several captures
-- fit, as those of a server for each batch size do, only what all of them agree on is known.
WITH
agreed_nodes AS (
    SELECT
        replayed.example_id,
        node.place,
        if(bool_and(replayed.is_named), 'names', 'order') AS evidence,
        if(count(*) = 1, min(node.recorded_id), NULL) AS recorded_id,
        agreed(node.op) AS op,
        agreed(node.top_op) AS top_op,
        agreed(node.top_op_ordinal) AS top_op_ordinal,
        agreed(node.module_id) AS module_id
    FROM replayed_programs AS replayed
    INNER JOIN graph_places AS node USING (program_id)
    GROUP BY replayed.example_id, node.place
),

replayed AS (
    SELECT
        node.*,
        activity.event_id,
        CASE
            WHEN node.top_op_ordinal IS NOT NULL
                THEN first_value(activity.event_id) OVER (
                    PARTITION BY activity.launch_id, node.top_op_ordinal
                    ORDER BY activity.start_ns, activity.event_id
                )
            WHEN node.top_op IS NOT NULL THEN activity.event_id
        END AS call_id
    FROM replayed_activities AS activity
    INNER JOIN graph_launches AS launched USING (launch_id)
    INNER JOIN agreed_nodes AS node USING (example_id, place)
    WHERE
        (activity.is_in_order OR activity.has_kernel_on_one_stream)
        AND (node.op IS NOT NULL OR node.module_id IS NOT NULL)
)

SELECT
    coalesce(replayed.event_id, annotated.event_id) AS event_id,
    replayed.recorded_id,
    replayed.op,
    replayed.top_op,
    replayed.call_id,
    annotated.label,
    coalesce(replayed.module_id, annotated.module_id) AS module_id,
    coalesce(replayed.evidence, 'annotation') AS evidence
FROM replayed
FULL JOIN graph_annotations AS annotated ON replayed.event_id = annotated.event_id;
