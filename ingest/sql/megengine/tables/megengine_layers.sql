-- Layers inside operators of MegEngine that run a network of their own, as measured by TensorRT.
-- One row: a layer of an operator.
--
-- run_id, source_id, rank, opr_id
-- ordinal  position of the layer in the operator, from 0
-- name     name of the layer
-- time_ms  duration as recorded, ms; null if it is not a number
-- dur_ns
-- layer    the layer as recorded (JSON)
WITH layers AS (
    SELECT
        source_id,
        key AS opr_key,
        unnest(try_cast(value AS JSON[])) AS layer,
        generate_subscripts(try_cast(value AS JSON[]), 1) - 1 AS ordinal
    FROM staged_megengine
    WHERE section = 'opr_internal_pf' AND json_type(value) = 'ARRAY'
)

SELECT
    layers.source_id,
    sources.rank,
    operator.opr_id,
    layers.ordinal,
    layers.layer ->> '$[0]' AS name,
    try_cast(layers.layer ->> '$[1]' AS DOUBLE) AS time_ms,
    seconds_to_ns(try_cast(layers.layer ->> '$[1]' AS DOUBLE) / 1e3) AS dur_ns,
    layers.layer
FROM layers
INNER JOIN staged_sources AS sources ON layers.source_id = sources.source_id
LEFT JOIN megengine_operators AS operator
    ON layers.source_id = operator.source_id AND layers.opr_key = operator.opr_key
ORDER BY layers.source_id, operator.operator_ordinal, layers.opr_key, layers.ordinal;
