-- Part of `comparability`: the share of calls of two runs that have inputs of the same shapes,
-- among the operators that both runs recorded with shapes: `shared_shapes(base, other)`.
-- One row: one of the two runs. There are no rows if the runs share no such operator.
--
-- run_id
-- percent  calls whose shapes also occur in the other run, in percent of all calls of the shared
--          operators, 0 to 100
CREATE MACRO shared_shapes(base, other) AS TABLE
    WITH
    shapes AS (
        SELECT run_id, name, input_dims, count(*) AS calls
        FROM ops
        WHERE
            run_id IN (base, other)
            AND category = 'cpu_op'
            AND input_dims LIKE '%[%[%'
        GROUP BY run_id, name, input_dims
    ),

    matched AS (
        SELECT
            run_id,
            calls,
            count(*) OVER (PARTITION BY name, input_dims) = 2 AS is_same_shape,
            min(run_id) OVER (PARTITION BY name) < max(run_id) OVER (PARTITION BY name)
                AS is_same_operator
        FROM shapes
    )

    SELECT
        run_id,
        100 * sum(if(is_same_shape, calls, 0)) / sum(calls) AS percent
    FROM matched
    WHERE is_same_operator
    GROUP BY run_id;
