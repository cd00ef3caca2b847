-- The distinct inputs of operators with a formula. A run has few of them: its steps repeat.
-- One row: an operator with shapes, types, strides and values of its arguments.
-- Materialised: a step in Python reads it.
--
-- `d`, `n`, `b`, `s`, `c`, `t` and `y` are the lists that formulas read; see `operator_formulas`.
WITH
distinct_inputs AS (
    SELECT
        formula_ops.formula,
        list(calls.event_id) AS event_ids,
        calls.input_dims,
        calls.input_types,
        calls.input_strides,
        calls.concrete_inputs
    FROM complete AS op
    INNER JOIN formula_ops ON op.name = formula_ops.name
    INNER JOIN staged_calls AS calls ON op.event_id = calls.event_id
    WHERE op.category = 'cpu_op' AND calls.input_dims IS NOT NULL
    GROUP BY ALL
),

parsed AS (
    SELECT
        formula,
        event_ids,
        try_cast(concrete_inputs::JSON AS VARCHAR[]) AS c,
        try_cast(input_types::JSON AS VARCHAR[]) AS t,
        list_transform(
            list_zip(
                try_cast(input_dims::JSON AS JSON[]),
                t,
                try_cast(input_strides::JSON AS JSON[]),
                list_resize([FALSE, formula LIKE 'binary%'], len(t))
            ),
            LAMBDA argument: {
                'dims': argument[1],
                'sizes': try_cast(argument[1] AS DOUBLE[]),
                'strides': try_cast(argument[3] AS DOUBLE[]),
                'element_bytes': dtype_bytes(dtype_of(argument[2])),
                'is_number': coalesce(
                    is_number(argument[2], argument[1]::VARCHAR, argument[4]), FALSE
                )
            }
        ) AS arguments
    FROM distinct_inputs
),

shaped AS (
    SELECT
        * EXCLUDE (arguments),
        list_transform(
            arguments,
            LAMBDA argument: {
                'sizes': CASE
                    WHEN argument['is_number'] THEN []
                    -- Without a type, `[]` is anything.
                    WHEN
                        elements(argument['sizes']) IS NOT NULL
                        AND (len(argument['sizes']) > 0 OR argument['element_bytes'] IS NOT NULL)
                        THEN argument['sizes']
                END,
                'element_bytes': if(argument['is_number'], NULL, argument['element_bytes']),
                'all_elements': list_elements(try_cast(argument['dims'] AS DOUBLE[][])),
                'strides': argument['strides'],
                'is_number': argument['is_number']
            }
        ) AS arguments
    FROM parsed
)

SELECT
    row_number() OVER () AS input_id,
    formula,
    event_ids,
    list_transform(arguments, LAMBDA argument: argument['sizes']) AS d,
    list_transform(
        arguments, LAMBDA argument: coalesce(elements(argument['sizes']), argument['all_elements'])
    ) AS n,
    list_transform(
        arguments,
        LAMBDA argument: CASE
            WHEN argument['is_number'] THEN 0
            WHEN argument['sizes'] IS NOT NULL
                THEN argument['element_bytes'] * elements(list_transform(
                    list_zip(argument['sizes'], argument['strides']),
                    LAMBDA axis: if(axis[2] = 0, least(axis[1], 1), axis[1])
                ))
        END
    ) AS b,
    list_transform(arguments, LAMBDA argument: argument['element_bytes']) AS s,
    c,
    t,
    list_transform(t, LAMBDA type: dtype_of(type)) AS y
FROM shaped;
