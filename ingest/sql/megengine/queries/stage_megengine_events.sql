-- Adds the operators of source $source_id to `staged` as events: operators by name on the host, and
-- kernel times by operator type on a comp node.
--
-- An operator without a valid time, or with a negative one, is not a complete event; its arguments
-- hold the recorded text.
INSERT INTO staged BY NAME
WITH
times AS (
    SELECT * FROM staged_megengine_times WHERE source_id = $source_id
),

operators AS (
    SELECT
        key AS opr_key,
        value ->> '$.name' AS name,
        value ->> '$.type' AS type
    FROM staged_megengine
    WHERE source_id = $source_id AND section = 'operator'
),

footprints AS (
    SELECT
        key AS opr_key,
        value AS footprint
    FROM staged_megengine
    WHERE source_id = $source_id AND section = 'opr_footprint' AND json_type(value) = 'OBJECT'
),

launched AS (
    SELECT
        times.*,
        coalesce(operators.name, concat('opr ', times.opr_key)) AS name,
        -- In an imperative dump, all operators have the same type.
        coalesce(nullif(operators.type, 'imperative'), operators.name) AS type,
        node.device,
        node.stream,
        coalesce(node.clock_shift_ns, 0) AS clock_shift_ns,
        first_value(times.ordinal) OVER (
            PARTITION BY
                times.opr_key,
                CASE
                    WHEN times.is_device THEN times.lane_name
                    ELSE regexp_replace(times.lane_name, '^comp_node_dispatch:', '')
                END
            ORDER BY times.is_device, times.start_s, times.ordinal
        ) AS same_node,
        min(CASE WHEN NOT times.is_device THEN times.ordinal END) OVER (
            PARTITION BY times.opr_key
        ) AS any_node
    FROM times
    LEFT JOIN operators ON times.opr_key = operators.opr_key
    LEFT JOIN staged_megengine_comp_nodes AS node
        ON times.is_device AND times.lane_name = node.comp_node AND node.source_id = $source_id
),

timed AS (
    SELECT
        *,
        if(is_device AND kern_s BETWEEN start_s AND end_s, kern_s, start_s) AS from_s,
        seconds_to_ns(from_s)::HUGEINT + if(is_device, clock_shift_ns, 0) AS from_ns,
        -- The limits are the same as for other events.
        CASE
            WHEN abs(from_ns) < 3e18 AND end_s >= from_s AND end_s - from_s < 1e6
                THEN seconds_to_ns(end_s - from_s)
        END AS dur_ns,
        CASE
            WHEN NOT is_device THEN ordinal
            WHEN same_node <> ordinal THEN same_node
            ELSE any_node
        END AS host_ordinal
    FROM launched
)

SELECT
    $source_id AS source_id,
    id_in_run($source_id, timed.ordinal) AS event_id,
    'X' AS phase,
    CASE WHEN timed.dur_ns IS NULL THEN NULL WHEN timed.is_device THEN 'device' ELSE 'host' END
        AS side,
    CASE
        WHEN NOT timed.is_device THEN 'cpu_op'
        WHEN timed.type IN ('Copy', 'Host2DeviceCopy') THEN 'gpu_memcpy'
        ELSE 'kernel'
    END AS category,
    CASE WHEN timed.is_device THEN coalesce(timed.type, timed.name) ELSE timed.name END AS name,
    CASE WHEN timed.is_device THEN timed.lane_name ELSE 'host' END AS pid,
    CASE WHEN timed.is_device THEN timed.stream::VARCHAR ELSE timed.lane_name END AS tid,
    CASE WHEN timed.dur_ns IS NOT NULL THEN timed.from_ns::BIGINT END AS relative_ns,
    timed.dur_ns,
    timed.host_ordinal + 1 AS external_id,
    CASE
        WHEN timed.is_device
            THEN
                json_object(
                    'opr', timed.name,
                    'opr_id', timed.opr_key,
                    'start', timed.start_s::VARCHAR,
                    'kern', timed.kern_s::VARCHAR,
                    'end', timed.end_s::VARCHAR
                )
        ELSE json_object(
            'type', timed.type,
            'opr_id', timed.opr_key,
            'computation', footprints.footprint -> '$.computation',
            'memory', footprints.footprint -> '$.memory',
            'start', timed.start_s::VARCHAR,
            'kern', timed.kern_s::VARCHAR,
            'end', timed.end_s::VARCHAR
        )
    END AS args
FROM timed
LEFT JOIN footprints ON NOT timed.is_device AND timed.opr_key = footprints.opr_key;
