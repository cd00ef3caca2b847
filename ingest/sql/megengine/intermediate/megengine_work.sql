-- The work of MegEngine's operators, as its profiler recorded it.
-- One row: an operator with a footprint.
-- Materialised: several relations read it.
--
-- The work of an operator that runs on several threads counts once, on the first one. An operator
-- without a time on the host has no `op_id`.
WITH
first_calls AS (
    SELECT times.source_id, times.opr_key, min(times.event_id) AS op_id
    FROM (
        SELECT source_id, opr_key, unnest(host_times).event_id AS event_id FROM megengine_oprs
    ) AS times
    SEMI JOIN complete ON times.event_id = complete.event_id
    GROUP BY times.source_id, times.opr_key
),

types AS (
    SELECT
        source_id,
        read.opr_key,
        arg_min(var.value ->> '$.mem_plan.layout.dtype', read.place) AS dtype
    FROM (
        SELECT
            source_id,
            opr_key,
            unnest(inputs) AS var_key,
            generate_subscripts(inputs, 1) AS place
        FROM megengine_operators
    ) AS read
    INNER JOIN megengine_variables AS var USING (source_id, var_key)
    GROUP BY source_id, read.opr_key
)

SELECT
    source_id,
    opr.rank,
    first_calls.op_id,
    list_transform(opr.device_times, LAMBDA time: time['event_id']) AS kernel_ids,
    'megengine' AS formula,
    -- In an imperative dump, all operators have the same type.
    megengine_kind(coalesce(nullif(opr.type, 'imperative'), opr.name)) AS kind,
    lower(types.dtype) AS dtype,
    opr.computation_flo AS flops,
    opr.memory_bytes AS bytes,
    if(opr.computation_flo IS NULL, 'not_recorded', NULL) AS flops_reason,
    if(opr.memory_bytes IS NULL, 'not_recorded', NULL) AS bytes_reason
FROM megengine_oprs AS opr
LEFT JOIN first_calls USING (source_id, opr_key)
LEFT JOIN types USING (source_id, opr_key)
WHERE (source_id, opr.opr_key) IN (
    SELECT (source_id, key) FROM staged_megengine WHERE section = 'opr_footprint'
);
