-- Outermost operators, each with its position in the user's program. Runs are compared by these
-- operators. Wrappers are labels of torch.compile, autograd and `capture`:
-- see macro `is_wrapper`.
-- One row: a cpu_op that is not a wrapper and has no operators around it except wrappers. Its
-- device activities are the `kernels` with this `event_id` as `top_op_id`.
--
-- run_id, source_id, rank
-- event_id       the operator (`ops.event_id`)
-- name           name of the operator
-- short_name     name of the operator as programs write it: `add` for `aten::add_`, `to` for
--                `aten::to`
-- kind           operator; dataloader; compilation, for a phase of torch.compile
-- start_ns       start, Unix time, ns
-- dur_ns         duration on the host, ns
-- step           innermost step that contains its start (`steps.step`)
-- module         path of the nn.Modules around it, outermost first: `Flux_0/Block_3/Linear_7`; null
--                if no module is around it, or if the trace has no Python frames
-- host_frame     innermost function around it that belongs to the user and not to torch:
--                `file.py(first line): function`; null if there is none, or if the trace has no
--                Python frames
-- frame_ordinal  position of the operator among the outermost operators of that call of the
--                function, from 1
-- input_dims
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
    ops.step,
    op_place.module,
    op_place.host_frame,
    CASE
        WHEN op_place.host_frame IS NOT NULL
            THEN row_number() OVER (
                PARTITION BY op_place.frame_id ORDER BY top.start_ns, top.event_id
            )
    END AS frame_ordinal,
    ops.input_dims
FROM outermost_ops AS top
INNER JOIN ops USING (event_id)
LEFT JOIN op_places AS op_place ON top.lane = op_place.lane AND top.start_ns = op_place.start_ns;
