-- Nodes of the execution traces that torch's `ExecutionTraceObserver` wrote: the inputs and outputs
-- of each operator, linked to the operators of the profile.
-- One row: a node of an execution trace.
--
-- A node is linked to an operator if both belong to the same process and have the same `Record
-- function id` and the same name. In `inputs` and `outputs`, a tensor is written as `[tensor id,
-- storage id, offset, elements, bytes of an element, device]`. Equal ids mean the same tensor.
--
-- run_id
-- source_id       the execution trace
-- rank
-- node_id         number of the node in its file
-- ctrl_deps       the node directly around it (`execution_trace_nodes.node_id`)
-- name            name of the operator or annotation
-- event_id        the operator or annotation in the profile (`ops.event_id`); null if the profile
--                 does not contain this call
-- rf_id           number of the call, called `Record function id` in the profile; 0 for nodes that
--                 are not calls
-- sequence        number that an operator shares with its backward (`ops.sequence`); -1 without one
-- scope           kind of the call: 0 operator, 1 backward node, 7 user annotation, …
-- torch_thread    number that torch gave the thread
-- forward_thread  for a backward node, the thread of its forward; 0 otherwise
-- forward_node    for a backward node, the node of its forward, if recorded; 0 otherwise
-- op_schema       schema of the operator: overload, arguments and results; null without one
-- kernel_backend  program that generated the kernel that the node calls, for example triton; null
--                 without one
-- kernel_file     file that contains the kernel; null without one
-- inputs          values of the inputs (JSON)
-- input_shapes    shapes of the inputs (JSON)
-- input_types     types of the inputs (JSON)
-- input_strides   strides of the inputs (JSON); null if the version of torch does not record them
-- outputs         values of the outputs (JSON)
-- output_shapes   shapes of the outputs (JSON)
-- output_types    types of the outputs (JSON)
-- output_strides  strides of the outputs (JSON); null if the version of torch does not record them
WITH
calls AS (
    SELECT
        rank,
        pid,
        name,
        record_id AS rf_id,
        min(event_id) AS event_id
    FROM complete
    INNER JOIN staged_calls USING (event_id)
    WHERE category IN ('cpu_op', 'user_annotation') AND record_id IS NOT NULL
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
