-- Activities of the host in a run without a device, which replace device activities. Empty for
-- other runs.
-- One row: an outermost operator, or a call of a compiled graph. `kind` is `operator`, `dataloader`
-- or `compile` for an outermost operator, and `compiled_code` for a call of a compiled graph: the
-- time in it outside of operators is compiled code.
-- Materialised: several relations read it.
SELECT
    source_id,
    rank,
    device_id_of(rank, NULL) AS device_id,
    event_id,
    start_ns,
    end_ns - start_ns AS dur_ns,
    CASE
        WHEN is_compilation(name) THEN 'compile'
        WHEN is_data_loader(name) THEN 'dataloader'
        ELSE 'operator'
    END AS kind
FROM outermost_ops
WHERE NOT EXISTS (FROM kernels)
UNION ALL
SELECT
    source_id,
    rank,
    device_id_of(rank, NULL) AS device_id,
    event_id,
    start_ns,
    dur_ns,
    'compiled_code' AS kind
FROM complete
WHERE
    category IN ('cpu_op', 'user_annotation')
    AND is_compiled_graph(name)
    AND NOT EXISTS (FROM kernels);
