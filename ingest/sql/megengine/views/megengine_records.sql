-- Operators of MegEngine that have a time, with the filters of `profile_analyze`.
-- `megengine_records(side := 'device', time_key := 'end', types := NULL, opr_name := NULL,
-- input_dtype := NULL, min_time := NULL, max_time := NULL)`: times of the `device` or the `host`,
-- with the key `end` or `kern`. `types` is a list. `opr_name` is a regular expression for the
-- beginning of the name. An operator matches `input_dtype` if one of its inputs has that type.
-- Times are in seconds, and both limits are included.
-- One row: an operator.
--
-- run_id, source_id, rank
-- operator_ordinal  position of the operator in `graph_exec.operator`
-- opr_id            number of the operator
-- name              name of the operator
-- type              kind of the operator
-- time_s            time of the operator, s
-- total_s
-- computation_flo   number of floating-point operations; null if none were counted
-- memory_bytes      bytes read and written
-- flo_per_s, bytes_per_s, in_shapes, in_layouts, out_shapes
CREATE MACRO megengine_records(
    side := 'device',
    time_key := 'end',
    types := NULL::VARCHAR[],
    opr_name := NULL::VARCHAR,
    input_dtype := NULL::VARCHAR,
    min_time := NULL::DOUBLE,
    max_time := NULL::DOUBLE
) AS TABLE
    WITH
    typed AS (
        SELECT DISTINCT run_id, source_id, var_key
        FROM megengine_vars
        WHERE dtype = input_dtype
    ),

    matching AS (
        SELECT DISTINCT opr.run_id, opr.source_id, opr.opr_key
        FROM (
            SELECT run_id, source_id, opr_key, unnest(input_vars) AS var_key FROM megengine_oprs
        ) AS opr
        INNER JOIN typed USING (run_id, source_id, var_key)
    ),

    timed AS (
        SELECT
            *,
            CASE concat_ws(' ', side, time_key)
                WHEN 'device end' THEN device_time_by_end_s
                WHEN 'device kern' THEN device_time_by_kern_s
                WHEN 'host end' THEN host_time_by_end_s
                WHEN 'host kern' THEN host_time_by_kern_s
            END AS time_s,
            sum(CASE side WHEN 'device' THEN device_time_by_end_s ELSE host_time_by_end_s END)
                OVER (PARTITION BY run_id, source_id) AS total_s
        FROM megengine_oprs
        WHERE operator_ordinal IS NOT NULL
    )

    SELECT
        timed.run_id,
        timed.source_id,
        timed.rank,
        timed.operator_ordinal,
        timed.opr_id,
        timed.name,
        timed.type,
        timed.time_s,
        timed.total_s,
        timed.computation_flo,
        timed.memory_bytes,
        timed.computation_flo / timed.time_s AS flo_per_s,
        timed.memory_bytes / timed.time_s AS bytes_per_s,
        timed.in_shapes,
        timed.in_layouts,
        timed.out_shapes
    FROM timed
    LEFT JOIN matching USING (run_id, source_id, opr_key)
    WHERE
        timed.time_s IS NOT NULL
        AND (types IS NULL OR list_contains(types, timed.type))
        AND (
            opr_name IS NULL
            OR regexp_matches(timed.name, concat('^(?:', opr_name, ')'))
        )
        AND (input_dtype IS NULL OR matching.opr_key IS NOT NULL)
        -- NaN is neither too short nor too long.
        AND coalesce(isnan(timed.time_s) OR timed.time_s >= min_time, TRUE)
        AND coalesce(isnan(timed.time_s) OR timed.time_s <= max_time, TRUE);
