-- Nodes of the execution traces that torch's `ExecutionTraceObserver` wrote: what went into each
-- operator and what came out of it, linked to the operators of the profile.
-- One row: a node of an execution trace.
--
-- A node and an operator are of the same call where the trace of the same process names the same
-- `Record function id` and the same name. A tensor stands in `inputs` and `outputs` as
-- `[tensor id, storage id, offset, elements, bytes of an element, device]`: equal ids are the same
-- tensor.
--
-- run_id          the run
-- source_id       the execution trace
-- rank            rank of the process
-- node_id         number of the node in its file
-- ctrl_deps       the node around it (`execution_trace_nodes.node_id`)
-- name            name of the operator or annotation
-- event_id        the operator or annotation of the profile (`ops.event_id`); null where the
--                 profile does not hold this call
-- rf_id           number of the call, which the profile has as `Record function id`; 0 of nodes
--                 that are no call
-- sequence        number that ties an operator to its backward (`ops.sequence`); -1 without one
-- scope           kind of the call: 0 operator, 1 node of the backward, 7 the user's annotation, …
-- torch_thread    thread, as torch numbers it
-- forward_thread  of the backward: thread of its forward; 0 otherwise
-- forward_node    of the backward: the node of its forward, where recorded; 0 otherwise
-- op_schema       the operator's schema: its overload, arguments and results; null without one
-- kernel_backend  what made the kernel that it calls, such as triton; null without one
-- kernel_file     file with that kernel; null without one
-- inputs          values of the inputs (JSON)
-- input_shapes    their shapes (JSON)
-- input_types     their types (JSON)
-- input_strides   their strides (JSON); null where the version of torch does not record them
-- outputs         values of the outputs (JSON)
-- output_shapes   their shapes (JSON)
-- output_types    their types (JSON)
-- output_strides  their strides (JSON), as of the inputs
WITH
calls AS (
    SELECT
        rank,
        pid,
        name,
        try_cast(args ->> '$."Record function id"' AS BIGINT) AS rf_id,
        min(event_id) AS event_id
    FROM complete
    WHERE category IN ('cpu_op', 'user_annotation') AND args LIKE '%"Record function id"%'
    GROUP BY ALL
)

SELECT
    node.source_id,
    sources.rank,
    node.node_id,
    node.ctrl_deps,
    node.name,
    calls.event_id,
    node.rf_id,
    node.seq_id AS sequence,
    node.scope,
    node.tid AS torch_thread,
    node.fw_tid AS forward_thread,
    node.fw_parent AS forward_node,
    node.op_schema,
    node.kernel_backend,
    node.kernel_file,
    nullif(node.inputs_values::VARCHAR, 'null') AS inputs,
    nullif(node.inputs_shapes::VARCHAR, 'null') AS input_shapes,
    nullif(node.inputs_types::VARCHAR, 'null') AS input_types,
    nullif(node.inputs_strides::VARCHAR, 'null') AS input_strides,
    nullif(node.outputs_values::VARCHAR, 'null') AS outputs,
    nullif(node.outputs_shapes::VARCHAR, 'null') AS output_shapes,
    nullif(node.outputs_types::VARCHAR, 'null') AS output_types,
    nullif(node.outputs_strides::VARCHAR, 'null') AS output_strides
FROM staged_execution_nodes AS node
INNER JOIN staged_sources AS sources ON node.source_id = sources.source_id
LEFT JOIN calls
    ON
        node.rf_id > 0
        AND sources.rank = calls.rank
        AND node.pid = calls.pid
        AND node.rf_id = calls.rf_id
        AND node.name = calls.name
ORDER BY node.source_id, node.node_id;
