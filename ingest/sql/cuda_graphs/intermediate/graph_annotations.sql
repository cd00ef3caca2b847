-- Annotations of graph nodes, by torch's `mark_kernels` or by torch itself, for each activity that
-- replays a node. They are in the trace, or in a file beside it.
-- One row: an annotated activity.
-- Materialised: it is joined, and DuckDB then knows its size.
WITH
files AS (
    SELECT
        sources.rank,
        annotations.graph_node_id,
        any_value(annotations.annotation) AS annotation
    FROM staged_graph_annotations AS annotations
    INNER JOIN staged_sources AS sources USING (source_id)
    GROUP BY sources.rank, annotations.graph_node_id
    HAVING count(DISTINCT annotations.annotation) = 1
),

annotated AS (
    SELECT
        activity.event_id,
        from_json(json_merge_patch(coalesce(files.annotation, '{}'), activity.annotation), '{
            "name": "VARCHAR", "str": "VARCHAR", "annotation": "VARCHAR", "module_fqn": "VARCHAR"
        }') AS a
    FROM replayed_activities AS activity
    LEFT JOIN files USING (rank, graph_node_id)
    WHERE activity.graph_node_id IS NOT NULL
),

found AS (
    SELECT
        event_id,
        nullif(coalesce(a.name, a.str, a.annotation), '') AS label,
        -- The outermost module has no name.
        nullif(trim(regexp_replace(a.module_fqn, '[./]+', '/', 'g'), '/'), '') AS module
    FROM annotated
)

SELECT event_id, label, module, annotated_module_id(module) AS module_id
FROM found
WHERE label IS NOT NULL OR module IS NOT NULL;
