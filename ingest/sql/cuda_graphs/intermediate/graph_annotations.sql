-- Annotations of graph nodes, by torch's `mark_kernels` or by torch itself, for each activity that
-- replays a node. They are in the trace, or in a file beside it.
-- One row: an annotated activity.
-- Materialised: it is joined, and DuckDB then knows its size.
WITH
files AS (
    SELECT
        sources.rank,
        annotations.graph_node_id,
        any_value(annotations.label) AS label,
        any_value(annotations.module) AS module
    FROM staged_graph_annotations AS annotations
    INNER JOIN staged_sources AS sources USING (source_id)
    GROUP BY sources.rank, annotations.graph_node_id
    HAVING count(DISTINCT row(annotations.label, annotations.module)) = 1
),

annotated AS (
    SELECT
        activity.event_id,
        coalesce(activity.graph_label, files.label) AS label,
        coalesce(activity.graph_module, files.module) AS module
    FROM replayed_activities AS activity
    LEFT JOIN files USING (rank, graph_node_id)
    WHERE activity.graph_node_id IS NOT NULL
),

found AS (
    SELECT
        event_id,
        nullif(label, '') AS label,
        -- The outermost module has no name.
        nullif(trim(regexp_replace(module, '[./]+', '/', 'g'), '/'), '') AS module
    FROM annotated
)

SELECT event_id, label, module, annotated_module_id(module) AS module_id
FROM found
WHERE label IS NOT NULL OR module IS NOT NULL;
