-- The contents of each call of a compiled graph, in order: its outermost cpu_ops, and kernels that
-- no operator launched, as older traces record Triton kernels.
-- A call that replays a CUDA graph has the calls that the graph recorded.
-- It leaves out what Inductor's runtime does itself: copies of inputs that are not aligned, before
-- and after the code runs, and benchmarks of kernels, in the first call.
-- One row: an operator or a kernel inside a call.
-- Materialised: it is joined, and DuckDB then knows its size.
WITH
ops AS (
    SELECT
        graph_calls.region_id,
        op.event_id,
        NULL::BIGINT AS kernel_id,
        op.start_ns AS at_ns,
        generated_kernel(op.name) AS called
    FROM op_nest
    INNER JOIN graph_calls ON op_nest.parent_id = graph_calls.region_id
    INNER JOIN complete AS op ON op_nest.event_id = op.event_id
    WHERE
        op.category = 'cpu_op'
        AND NOT starts_with(op.name, 'CachingAutotuner.')
        AND NOT starts_with(op.name, 'cudagraphify.')
        AND op.name <> 'aten::_foreach_copy_'
),

launched AS (
    SELECT kernels.event_id, kernels.op_id, kernels.name, launches.lane, launches.launch_ns
    FROM kernels
    INNER JOIN launches ON kernels.event_id = launches.event_id
    WHERE kernels.kind = 'kernel' AND NOT kernels.is_graph_launch
),

without_op AS (
    SELECT
        graph_calls.region_id,
        NULL::BIGINT AS event_id,
        launched.event_id AS kernel_id,
        launched.launch_ns AS at_ns,
        launched.name AS called
    FROM launched
    ASOF INNER JOIN graph_calls
        ON launched.lane = graph_calls.lane AND launched.launch_ns >= graph_calls.start_ns
    LEFT JOIN complete AS op ON launched.op_id = op.event_id
    WHERE
        launched.launch_ns < graph_calls.end_ns
        AND (op.start_ns IS NULL OR op.start_ns < graph_calls.start_ns)
),

replayed AS (
    SELECT
        graph_calls.region_id,
        NULL::BIGINT AS event_id,
        kernels.event_id AS kernel_id,
        kernels.start_ns AS at_ns,
        generated_kernel(kernels.graph_top_op) AS called
    FROM kernels
    INNER JOIN launches ON kernels.event_id = launches.event_id
    ASOF INNER JOIN graph_calls
        ON launches.lane = graph_calls.lane AND launches.launch_ns >= graph_calls.start_ns
    WHERE launches.launch_ns < graph_calls.end_ns AND kernels.event_id = kernels.graph_call_id
),

launched_parts AS (
    SELECT * FROM ops
    UNION ALL
    SELECT * FROM without_op
)

SELECT *
FROM (
    SELECT * FROM replayed
    UNION ALL
    SELECT launched_parts.*
    FROM launched_parts
    ANTI JOIN replayed ON launched_parts.region_id = replayed.region_id
)
QUALIFY NOT bool_and(called IN ('aten::as_strided', 'aten::clone')) OVER (
    PARTITION BY region_id ORDER BY at_ns, coalesce(event_id, kernel_id)
);
