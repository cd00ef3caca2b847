-- Operators of MegEngine in groups, as `profile_analyze --aggregate` forms them.
-- `megengine_record_groups(aggregate, by_type := TRUE, …)`: `aggregate` is max, min, sum or mean.
-- Without `by_type`, all operators of a file form one group, named `all`. The other arguments are
-- those of `megengine_records`.
-- One row: a group.
--
-- run_id, source_id, rank
-- first_ordinal    position of the group's first operator in `graph_exec.operator`
-- type             kind of the operators, or `all`
-- count            number of operators in the group
-- time_s           aggregate of the operators' times, s
-- total_s
-- computation_flo  aggregate of the operators' floating-point operations; the mean also counts
--                  operators without operations; null if none have any
-- memory_bytes     aggregate of the bytes that the operators read and write; the mean also counts
--                  operators without bytes; null if none have any
-- flo_per_s, bytes_per_s
CREATE MACRO megengine_record_groups(
    aggregate,
    by_type := TRUE,
    side := 'device',
    time_key := 'end',
    types := NULL::VARCHAR[],
    opr_name := NULL::VARCHAR,
    input_dtype := NULL::VARCHAR,
    min_time := NULL::DOUBLE,
    max_time := NULL::DOUBLE
) AS TABLE
    WITH grouped AS (
        SELECT
            run_id,
            source_id,
            any_value(rank) AS rank,
            min(operator_ordinal) AS first_ordinal,
            CASE WHEN by_type THEN type ELSE 'all' END AS type,
            count(*) AS count,
            any_value(total_s) AS total_s,
            CASE any_value(aggregate)
                WHEN 'max' THEN max(time_s)
                WHEN 'min' THEN min(time_s)
                WHEN 'sum' THEN sum(time_s)
                WHEN 'mean' THEN sum(time_s) / count(*)
            END AS time_s,
            CASE any_value(aggregate)
                WHEN 'max' THEN max(computation_flo)
                WHEN 'min' THEN min(computation_flo)
                WHEN 'sum' THEN sum(computation_flo)
                WHEN 'mean' THEN sum(computation_flo) / count(*)
            END::DOUBLE AS computation_flo,
            CASE any_value(aggregate)
                WHEN 'max' THEN max(memory_bytes)
                WHEN 'min' THEN min(memory_bytes)
                WHEN 'sum' THEN sum(memory_bytes)
                WHEN 'mean' THEN sum(memory_bytes) / count(*)
            END::DOUBLE AS memory_bytes
        FROM
            megengine_records(
                side := side,
                time_key := time_key,
                types := types,
                opr_name := opr_name,
                input_dtype := input_dtype,
                min_time := min_time,
                max_time := max_time
            )
        GROUP BY run_id, source_id, CASE WHEN by_type THEN type ELSE 'all' END
    )

    SELECT
        run_id,
        source_id,
        rank,
        first_ordinal,
        type,
        count,
        time_s,
        total_s,
        computation_flo,
        memory_bytes,
        computation_flo / time_s AS flo_per_s,
        memory_bytes / time_s AS bytes_per_s
    FROM grouped;
