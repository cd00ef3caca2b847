-- Adds the comp nodes of source $source_id to `staged_megengine_comp_nodes`.
--
-- The name of a comp node has the form `CompNode("gpu0:1" from "gpux:1")`: stream 1 of device 0. If
-- a file has several kinds of devices, the devices are renumbered.
--
-- The clock of a comp node starts at its first event. Its times are shifted by the smallest amount
-- with which no operator starts before the host dispatched it, no kernel before its launch, and
-- none before the kernels of other comp nodes that it waits for. The true times may be later, all
-- of them by the same amount.
INSERT INTO staged_megengine_comp_nodes BY NAME
WITH RECURSIVE
times AS (
    SELECT * FROM staged_megengine_times
    WHERE source_id = $source_id AND isfinite(start_s) AND isfinite(coalesce(kern_s, start_s))
),

named AS (
    SELECT
        lane_name AS comp_node,
        regexp_extract(lane_name, '^CompNode\("([a-z_]*)', 1) AS kind,
        coalesce(try_cast(regexp_extract(lane_name, '[a-z_](\d+):', 1) AS BIGINT), 0) AS number,
        coalesce(try_cast(regexp_extract(lane_name, ':(\d+)"', 1) AS BIGINT), 0) AS stream
    FROM staged_megengine_times
    WHERE source_id = $source_id AND is_device
    GROUP BY lane_name
),

numbered AS (
    SELECT
        *,
        CASE
            WHEN min(kind) OVER () = max(kind) OVER () THEN number
            ELSE dense_rank() OVER (ORDER BY kind, number) - 1
        END AS device
    FROM named
),

dispatched AS (
    SELECT
        device.lane_name AS comp_node,
        max(greatest(host.start_s - device.start_s, host.kern_s - device.kern_s)) AS shift_s
    FROM times AS device
    INNER JOIN times AS host ON device.opr_key = host.opr_key
    WHERE
        device.is_device
        AND NOT host.is_device
        AND (
            host.lane_name = concat('comp_node_dispatch:', device.lane_name)
            OR NOT starts_with(host.lane_name, 'comp_node_dispatch:')
        )
    GROUP BY device.lane_name
),

launched AS (
    SELECT
        numbered.*,
        coalesce(dispatched.shift_s, 0) AS shift_s
    FROM numbered
    LEFT JOIN dispatched ON numbered.comp_node = dispatched.comp_node
),

producers AS (
    SELECT
        key AS opr_key,
        unnest(try_cast(value -> '$.output' AS VARCHAR[])) AS var
    FROM staged_megengine
    WHERE source_id = $source_id AND section = 'operator'
),

specs AS (
    SELECT
        key AS opr_key,
        unnest(map_entries(try_cast(value -> '$.waiting_spec' AS MAP (VARCHAR, JSON)))) AS spec
    FROM staged_megengine
    WHERE
        source_id = $source_id
        AND section = 'operator'
        AND json_type(value -> '$.waiting_spec') = 'OBJECT'
),

waits AS (
    SELECT
        opr_key,
        spec.key AS comp_node,
        unnest(try_cast(spec.value -> '$.dev_ready' AS VARCHAR[])) AS var
    FROM specs
),

followed AS (
    SELECT
        waits.comp_node,
        producer.lane_name AS other,
        max(producer.end_s - waiting.kern_s) AS shift_s
    FROM waits
    INNER JOIN producers ON waits.var = producers.var
    INNER JOIN times AS waiting
        ON
            waits.opr_key = waiting.opr_key
            AND waits.comp_node = waiting.lane_name
            AND waiting.is_device
    INNER JOIN times AS producer
        ON
            producers.opr_key = producer.opr_key
            AND waits.comp_node <> producer.lane_name
            AND producer.is_device
            AND isfinite(producer.end_s)
    GROUP BY waits.comp_node, producer.lane_name
),

-- The longest chain of waits contains each comp node once.
moved AS (
    SELECT comp_node, shift_s, 1 AS chained FROM launched
    UNION ALL
    SELECT
        followed.comp_node,
        max(moved.shift_s + followed.shift_s) AS shift_s,
        moved.chained + 1 AS chained
    FROM moved
    INNER JOIN followed ON moved.comp_node = followed.other
    WHERE moved.chained < (SELECT count(*) FROM launched)
    GROUP BY followed.comp_node, moved.chained
)

SELECT
    $source_id AS source_id,
    launched.comp_node,
    launched.device,
    launched.stream,
    seconds_to_ns(max(moved.shift_s)) AS clock_shift_ns
FROM launched
INNER JOIN moved ON launched.comp_node = moved.comp_node
GROUP BY launched.comp_node, launched.device, launched.stream;
