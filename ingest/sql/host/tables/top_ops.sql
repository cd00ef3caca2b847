-- Outermost operators, each with its place in the user's program: the units in which runs are
-- compared.
-- One row: a cpu_op inside no other, looking through wrappers; what it ran on a device are the
-- `kernels` with its `event_id` as `top_op_id`.
--
-- run_id         the run
-- source_id      the input file
-- rank           rank of the process
-- event_id       the operator (`ops.event_id`)
-- name           name of the operator
-- short_name     the same as programs write it: `add` for `aten::add_`, `to` for `aten::to`
-- kind           operator; dataloader; compilation, a phase of torch.compile
-- start_ns       Unix time, ns
-- dur_ns         length on the host, ns
-- step           innermost step around its start (`steps.step`)
-- module         path of nn.Modules around it, outermost first: `Flux_0/Block_3/Linear_7`; null
--                where the trace has no Python frames, or none of a module
-- host_frame     innermost function around it that is the user's and not torch's own:
--                `file.py(first line): function`; null where the trace has no Python frames
-- frame_ordinal  its place among the outermost operators of that call of the function, from 1
-- input_dims     shapes of its inputs, as recorded (JSON)
SELECT
    top.source_id,
    top.rank,
    top.event_id,
    top.name,
    short_op(top.name) AS short_name,
    CASE
        WHEN is_compilation(top.name) THEN 'compilation'
        WHEN is_data_loader(top.name) THEN 'dataloader'
        ELSE 'operator'
    END AS kind,
    top.start_ns,
    top.end_ns - top.start_ns AS dur_ns,
    nullif(host_nest.step, -1) AS step,
    op_place.module,
    op_place.host_frame,
    CASE
        WHEN op_place.host_frame IS NOT NULL
            THEN row_number() OVER (
                PARTITION BY op_place.frame_id ORDER BY top.start_ns, top.event_id
            )
    END AS frame_ordinal,
    json_extract(event.args, '$."Input Dims"')::VARCHAR AS input_dims
FROM outermost_ops AS top
INNER JOIN complete AS event ON top.event_id = event.event_id
LEFT JOIN host_nest ON top.event_id = host_nest.event_id
LEFT JOIN op_places AS op_place ON top.lane = op_place.lane AND top.start_ns = op_place.start_ns;
