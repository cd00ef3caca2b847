-- The comp nodes of source $source_id.
--
-- A comp node is named like `CompNode("gpu0:1" from "gpux:1")`: stream 1 of device 0. Devices of
-- several kinds are numbered anew.
--
-- The clock of a comp node counts from its own first event. Its times are moved by the least that
-- lets no operator start before the host dispatched it, no kernel before its launch, and none
-- before the kernels of other comp nodes that it waits for. The true times may be later, all of
-- them by the same amount.
INSERT INTO staged_megengine_comp_nodes BY NAME
WITH RECURSIVE
times AS (
    SELECT * FROM staged_megengine_times
    WHERE source_id = $source_id AND isfinite(start_s) AND isfinite(coalesce(kern_s, start_s))
),

named AS (
    SELECT
        place AS comp_node,
        regexp_extract(place, '^CompNode\("([a-z_]*)', 1) AS kind,
        coalesce(try_cast(regexp_extract(place, '[a-z_](\d+):', 1) AS BIGINT), 0) AS number,
        coalesce(try_cast(regexp_extract(place, ':(\d+)"', 1) AS BIGINT), 0) AS stream
    FROM staged_megengine_times
    WHERE source_id = $source_id AND is_device
    GROUP BY place
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
        device.place AS comp_node,
        max(greatest(host.start_s - device.start_s, host.kern_s - device.kern_s)) AS shift_s
    FROM times AS device
    INNER JOIN times AS host ON device.opr_key = host.opr_key
    WHERE
        device.is_device
        AND NOT host.is_device
        AND (
            host.place = concat('comp_node_dispatch:', device.place)
            OR NOT starts_with(host.place, 'comp_node_dispatch:')
        )
    GROUP BY device.place
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
        producer.place AS other,
        max(producer.end_s - waiting.kern_s) AS shift_s
    FROM waits
    INNER JOIN producers ON waits.var = producers.var
    INNER JOIN times AS waiting
        ON
            waits.opr_key = waiting.opr_key
            AND waits.comp_node = waiting.place
            AND waiting.is_device
    INNER JOIN times AS producer
        ON
            producers.opr_key = producer.opr_key
            AND waits.comp_node <> producer.place
            AND producer.is_device
            AND isfinite(producer.end_s)
    GROUP BY waits.comp_node, producer.place
),

-- The longest chain of waits has each comp node once.
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
