-- What CUDA graphs were captured from: the launches that each capture recorded, with the operators
-- and modules around them.
-- One row: a kernel, copy, memset or graph that a graph recorded.
-- Materialised: several relations read it.
--
-- run_id
-- source_id        the input file with the capture: a trace of the run, or a trace of captures
-- rank             rank of the process that captured
-- recorded_id      the recorded call. In a trace of the run it is also an event (`events.event_id`)
-- capture_id       the capture (`graph_nodes.capture_id`): the call that began it
-- is_forked        whether the capture waited for events, as it does to record several streams.
--                  Then replays need not keep the order of the calls
-- ordinal          position in the capture, from 1
-- kind             kernel, memcpy, memset or graph, which has activities of its own
-- kernel           name of the kernel: recorded with the call, as on AMD, or known from the same
--                  operator outside of captures; null if unknown, and for copies and memsets
-- op               name of the innermost cpu_op around the call, which may be a wrapper
-- top_op           name of the outermost cpu_op around the call that is not a wrapper
-- top_op_ordinal   number of that operator's call in the capture, from 1
-- module_id        innermost nn.Module around the call (`module_tree.module_id`); null outside
--                  modules, or if the trace has no Python frames
-- input_dims       shapes of the inputs of the innermost cpu_op, as recorded (JSON)
-- input_types      types of these inputs, as recorded (JSON)
-- concrete_inputs  values of its scalar inputs, as recorded (JSON)
WITH found AS (
    SELECT
        recorded.*,
        ops.op_id,
        ops.op,
        ops.recorded_top_op_id AS top_op_id,
        ops.recorded_top_op AS top_op,
        min(recorded.launch_ns) OVER (
            PARTITION BY recorded.capture_id, ops.recorded_top_op_id
        ) AS top_op_from_ns,
        nullif(nest.module_id, 0) AS module_id,
        op_call.input_dims,
        op_call.input_types,
        op_call.concrete_inputs,
        count(*) OVER (PARTITION BY ops.op_id, recorded.kind) AS launches_in_op,
        row_number() OVER (
            PARTITION BY ops.op_id, recorded.kind ORDER BY recorded.launch_ns, recorded.event_id
        ) AS op_ordinal
    FROM recorded_launches AS recorded
    LEFT JOIN launching_ops AS ops USING (lane, launch_ns)
    LEFT JOIN staged_calls AS op_call ON ops.op_id = op_call.event_id
    LEFT JOIN host_nest AS nest ON recorded.event_id = nest.event_id
)

SELECT
    found.source_id,
    found.rank,
    found.event_id AS recorded_id,
    found.capture_id,
    found.is_forked,
    row_number() OVER (
        PARTITION BY found.capture_id ORDER BY found.launch_ns, found.event_id
    ) AS ordinal,
    found.kind,
    CASE
        WHEN found.kind = 'kernel'
            THEN coalesce(
                found.kernel,
                CASE WHEN starts_with(found.op, 'triton_') THEN found.op END,
                usual.kernel
            )
    END AS kernel,
    found.op,
    found.top_op,
    CASE
        WHEN found.top_op_id IS NOT NULL
            THEN dense_rank() OVER (
                PARTITION BY found.capture_id ORDER BY found.top_op_from_ns, found.top_op_id
            )
    END AS top_op_ordinal,
    found.module_id,
    found.input_dims,
    found.input_types,
    found.concrete_inputs
FROM found
LEFT JOIN usual_kernels AS usual
    ON
        found.source_id = usual.source_id
        AND found.op = usual.op
        AND found.input_dims = usual.input_dims
        AND found.input_types IS NOT DISTINCT FROM usual.input_types
        AND found.launches_in_op = usual.kernels
        AND found.op_ordinal = usual.ordinal
UNION ALL BY NAME
SELECT staged_graph_nodes.*, files.rank
FROM staged_graph_nodes
INNER JOIN staged_files AS files USING (source_id);
