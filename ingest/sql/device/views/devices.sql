-- Devices and hosts of each run, as its files describe them.
-- One row: a device of a rank, or the host of a rank. If a profiler numbers a device differently
-- than PyTorch, its kernels and its memory have a row each.
-- Stored: it has few rows, and computing it reads several tables.
-- Indexed: Queries over all runs compare work with the limits of devices.
--
-- run_id
-- device_id        the key: rank and number, such as `0:1`. `0:host` stands for the host, and for a
--                  device whose number is unknown; `0:unknown` for the memory of a device without a
--                  known type
-- rank
-- device_type      cpu for a host; cuda, xpu, … or `unknown` for a device whose memory was
--                  recorded; null for other devices, because a trace does not name their type
-- device
-- name             name of the device; null for a host, if no trace names it, and if a rank has
--                  several kinds of devices without this number
-- memory_bytes     size of its memory, bytes; null where `name` is null
-- multiprocessors  number of its multiprocessors, or compute units on ROCm; null if not recorded
-- capability       compute capability, such as `9.0`; null if not recorded
WITH
found AS (
    SELECT run_id, device_id_of(sources.rank, NULL) AS device_id, sources.rank, 'cpu' AS device_type
    FROM sources
    WHERE sources.rank IS NOT NULL
    UNION ALL BY NAME
    SELECT run_id, device_id, device_time.rank, device FROM device_time
    UNION ALL BY NAME
    SELECT run_id, device_id, node.rank, device FROM megengine_comp_nodes AS node
    UNION ALL BY NAME
    SELECT run_id, device_id, memory_peak.rank, device_type, device FROM memory_peak
),

described AS (
    SELECT run_id, sources.rank, unnest(known_devices) AS property FROM sources
),

properties AS (
    SELECT
        run_id,
        described.rank,
        property.number,
        struct_pack(
            name := property.name,
            memory_bytes := property.memory_bytes,
            multiprocessors := property.multiprocessors,
            capability := property.capability
        ) AS known,
        min(known) OVER of_rank = max(known) OVER of_rank AS are_equal
    FROM described
    WINDOW of_rank AS (PARTITION BY run_id, described.rank)
)

SELECT
    found.run_id,
    found.device_id,
    found.rank,
    min(found.device_type) AS device_type,
    any_value(found.device) AS device,
    min(properties.known).name AS name,
    min(properties.known).memory_bytes AS memory_bytes,
    min(properties.known).multiprocessors AS multiprocessors,
    min(properties.known).capability AS capability
FROM found
-- A profiler may number devices differently than PyTorch; equal devices need no number.
LEFT JOIN properties
    ON
        found.run_id = properties.run_id
        AND found.rank = properties.rank
        AND found.device IS NOT NULL
        AND (found.device = properties.number OR properties.are_equal)
GROUP BY ALL;
