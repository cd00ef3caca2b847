-- What the program, with torch's `mark_kernels`, or torch itself says about activities of graphs:
-- in the trace, or in a file beside it.
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
        from_json(activity.annotation, '{
            "name": "VARCHAR", "str": "VARCHAR", "annotation": "VARCHAR", "module_fqn": "VARCHAR"
        }') AS in_trace,
        from_json(files.annotation, '{
            "name": "VARCHAR", "str": "VARCHAR", "annotation": "VARCHAR", "module_fqn": "VARCHAR"
        }') AS in_file
    FROM replayed_activities AS activity
    LEFT JOIN files USING (rank, graph_node_id)
    WHERE activity.graph_node_id IS NOT NULL
),

found AS (
    SELECT
        event_id,
        nullif(coalesce(
            in_trace.name, in_trace.str, in_trace.annotation,
            in_file.name, in_file.str, in_file.annotation
        ), '') AS label,
        -- The outermost module has no name.
        nullif(
            trim(
                regexp_replace(
                    coalesce(in_trace.module_fqn, in_file.module_fqn), '[./]+', '/', 'g'
                ),
                '/'
            ),
            ''
        ) AS module
    FROM annotated
)

SELECT event_id, label, module, annotated_module_id(module) AS module_id
FROM found
WHERE label IS NOT NULL OR module IS NOT NULL;
