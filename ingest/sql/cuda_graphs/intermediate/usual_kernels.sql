-- Kernels that operators launch outside of captures, to tell what a recorded launch of the same
-- operator runs.
-- One row: a kernel that each call of an operator, with these shapes and types and this number of
-- kernels, launches at this position. Nothing is known if calls differ, or without shapes.
WITH
launched AS (
    SELECT
        kernel.source_id,
        launching_ops.op_id,
        kernel.name AS kernel,
        row_number() OVER of_op AS ordinal,
        count(*) OVER (PARTITION BY launching_ops.op_id) AS kernels
    FROM launches
    INNER JOIN launching_ops USING (lane, launch_ns)
    INNER JOIN complete AS kernel USING (event_id)
    SEMI JOIN graph_captures ON kernel.source_id = graph_captures.source_id
    WHERE kernel.category = 'kernel' AND NOT is_graph_launch(launches.launch_name)
    WINDOW of_op AS (
        PARTITION BY launching_ops.op_id ORDER BY launches.launch_ns, launches.launch_id
    )
)

SELECT
    launched.source_id,
    op.name AS op,
    recorded.input_dims,
    recorded.input_types,
    launched.kernels,
    launched.ordinal,
    any_value(launched.kernel) AS kernel
FROM launched
INNER JOIN complete AS op ON launched.op_id = op.event_id
INNER JOIN staged_calls AS recorded ON launched.op_id = recorded.event_id
WHERE recorded.input_dims IS NOT NULL
GROUP BY ALL
HAVING min(launched.kernel) = max(launched.kernel);
