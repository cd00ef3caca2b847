-- Adds the operators of source $source_id to `staged_calls`: the shapes of their inputs.
INSERT INTO staged_calls BY NAME
SELECT
    event.source_id,
    event.event_id,
    json_extract(footprint.value, '$.in_shapes')::VARCHAR AS input_dims
FROM staged AS event
INNER JOIN staged_megengine AS footprint
    ON
        event.source_id = footprint.source_id
        AND event.args ->> '$.opr_id' = footprint.key
        AND footprint.section = 'opr_footprint'
WHERE
    event.source_id = $source_id
    AND event.side = 'host'
    AND json_type(footprint.value) = 'OBJECT';
