-- The memory of two runs side by side, device by device: `memory_diff(base, other)`. If a device of
-- a rank is in several files, the snapshot with the highest peak is used, or else the trace with
-- the highest peak.
-- One row: a metric of the curve, or an owner of memory at the peaks.
--
-- rank, device_id, device_type, device
-- level              curve, or a level of `memory_by_owner`: frame, module, op or category
-- name               for level curve: peak, peak reserved, start or end; or else the owner
-- is_known           whether the owner is known; true for level curve
-- base_bytes         memory in the base run, bytes; null if it has no such device, 0 for an owner
--                    that held nothing
-- other_bytes        memory in the other run, bytes; null or 0 under the same conditions
-- change_bytes       `other_bytes` minus `base_bytes`
-- percent            change as a percentage of `base_bytes`; null if that is 0
-- base_allocations   for an owner, number of allocations in the base run
-- other_allocations  for an owner, number of allocations in the other run
CREATE MACRO memory_diff(base, other) AS TABLE
    WITH
    devices AS (
        SELECT
            *, row_number() OVER (
                PARTITION BY run_id, device_id
                ORDER BY
                    CASE origin WHEN 'snapshot' THEN 0 WHEN 'trace' THEN 1 ELSE 2 END,
                    peak_bytes DESC,
                    source_id
            ) AS choice
        FROM memory_peak
        WHERE run_id IN (base, other)
    ),

    chosen AS (
        SELECT * FROM devices WHERE choice = 1
    ),

    metrics AS (
        SELECT
            run_id,
            device_id,
            device_type,
            'curve' AS level,
            unnest(['peak', 'peak reserved', 'start', 'end']) AS name,
            TRUE AS is_known,
            unnest([peak_bytes, peak_reserved_bytes, start_bytes, end_bytes]) AS bytes,
            NULL::BIGINT AS allocations
        FROM chosen
        UNION ALL
        SELECT
            owner.run_id,
            owner.device_id,
            owner.device_type,
            owner.level,
            owner.name,
            owner.is_known,
            owner.bytes,
            owner.allocations
        FROM memory_by_owner AS owner
        INNER JOIN chosen USING (run_id, source_id, device_id)
        WHERE owner.run_id IN (base, other) AND owner.level <> 'stack'
    ),

    sides AS (
        SELECT
            device_id,
            device_type,
            level,
            name,
            is_known,
            max(bytes) FILTER (WHERE run_id = base) AS base_bytes,
            max(bytes) FILTER (WHERE run_id = other) AS other_bytes,
            max(allocations) FILTER (WHERE run_id = base) AS base_allocations,
            max(allocations) FILTER (WHERE run_id = other) AS other_allocations
        FROM metrics
        GROUP BY ALL
    ),

    known AS (
        SELECT
            rank,
            device_id,
            device_type,
            device,
            bool_or(run_id = base) AS in_base,
            bool_or(run_id = other) AS in_other
        FROM chosen
        GROUP BY ALL
    ),

    -- An owner without rows in a run that has the device held 0 bytes there.
    filled AS (
        SELECT
            known.rank,
            known.device_id,
            known.device_type,
            known.device,
            sides.level,
            sides.name,
            sides.is_known,
            coalesce(sides.base_bytes, if(known.in_base AND sides.level <> 'curve', 0, NULL))
                AS base_bytes,
            coalesce(sides.other_bytes, if(known.in_other AND sides.level <> 'curve', 0, NULL))
                AS other_bytes,
            sides.base_allocations,
            sides.other_allocations
        FROM sides
        INNER JOIN known USING (device_id, device_type)
    )

    SELECT
        rank,
        device_id,
        device_type,
        device,
        level,
        name,
        is_known,
        base_bytes,
        other_bytes,
        other_bytes - base_bytes AS change_bytes,
        100.0 * (other_bytes - base_bytes) / nullif(base_bytes, 0) AS percent,
        base_allocations,
        other_allocations
    FROM filled;
