-- Adds the calls of source $source_id whose arguments say more than the columns of `staged` to
-- `staged_calls`.
INSERT INTO staged_calls BY NAME
WITH
recorded AS (
    SELECT
        event_id,
        from_json(args, '{
            "Input Dims": "JSON", "Input type": "JSON", "Input Types": "JSON",
            "Input Strides": "JSON", "Concrete Inputs": "JSON", "Sequence number": "BIGINT",
            "Record function id": "BIGINT", "kernel": "VARCHAR"
        }') AS a
    FROM staged
    WHERE
        source_id = $source_id
        AND side = 'host'
        AND category IN ('cpu_op', 'user_annotation', 'cuda_runtime', 'cuda_driver')
),

calls AS (
    SELECT
        $source_id AS source_id,
        event_id,
        a."Input Dims"::VARCHAR AS input_dims,
        coalesce(a."Input type", a."Input Types")::VARCHAR AS input_types,
        a."Input Strides"::VARCHAR AS input_strides,
        a."Concrete Inputs"::VARCHAR AS concrete_inputs,
        a."Sequence number" AS sequence,
        a."Record function id" AS record_id,
        a.kernel
    FROM recorded
)

FROM calls
WHERE
    coalesce(
        input_dims, input_types, input_strides, concrete_inputs, sequence::VARCHAR,
        record_id::VARCHAR, kernel
    ) IS NOT NULL;
