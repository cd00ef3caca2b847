-- Adds the device activities of source $source_id to `staged_activities`.
INSERT INTO staged_activities BY NAME
WITH recorded AS (
    SELECT
        event_id,
        from_json(args, '{
            "device": "BIGINT", "stream": "BIGINT", "grid": ["BIGINT"], "block": ["BIGINT"],
            "registers per thread": "INTEGER", "shared memory": "BIGINT",
            "est. achieved occupancy %": "DOUBLE", "bytes": "BIGINT", "size": "BIGINT",
            "memory bandwidth (GB/s)": "DOUBLE", "Collective name": "VARCHAR",
            "graph id": "BIGINT", "graph node id": "UBIGINT", "name": "VARCHAR",
            "str": "VARCHAR", "annotation": "VARCHAR", "module_fqn": "VARCHAR"
        }') AS a
    FROM staged
    WHERE source_id = $source_id AND side = 'device'
)

SELECT
    $source_id AS source_id,
    event_id,
    a.device,
    a.stream,
    a.grid,
    a.block,
    a."registers per thread" AS registers,
    a."shared memory" AS shared_bytes,
    a."est. achieved occupancy %" AS occupancy_percent,
    coalesce(a.bytes, a.size) AS bytes,
    a."memory bandwidth (GB/s)" AS gb_per_s,
    a."Collective name" AS collective,
    a."graph id" AS graph_id,
    nullif(a."graph node id", 0) AS graph_node_id,
    coalesce(a.name, a.str, a.annotation) AS graph_label,
    a.module_fqn AS graph_module
FROM recorded;
