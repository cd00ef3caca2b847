-- The memory of two runs side by side, device by device: `memory_diff(base, other)`. Of several
-- files of a rank and device the snapshot with the highest peak counts, else the trace with it.
-- One row: a figure of the curve, or a holder of memory at the peaks.
--
-- rank            rank of the process
-- device          device, as PyTorch names it
-- level           curve, or as in `memory_sites`: site, module, op or category
-- name            of level curve: peak, peak reserved, start or end; else the holder
-- base_bytes      in the first run, bytes; null where it has no such device, 0 for a holder that
--                 held nothing
-- other_bytes     in the second
-- change_bytes    second less first
-- percent         change, of the first; null where that is 0
-- base_elements   of a holder, allocations in the first
-- other_elements  in the second
CREATE MACRO memory_diff(base, other) AS TABLE
    WITH
    devices AS (
        SELECT
            *, row_number() OVER (
                PARTITION BY run_id, rank, device
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

    figures AS (
        SELECT
            run_id,
            rank,
            device,
            'curve' AS level,
            unnest(['peak', 'peak reserved', 'start', 'end']) AS name,
            unnest([peak_bytes, peak_reserved_bytes, start_bytes, end_bytes]) AS bytes,
            NULL::BIGINT AS elements
        FROM chosen
        UNION ALL
        SELECT
            holder.run_id,
            holder.rank,
            holder.device,
            holder.level,
            holder.name,
            holder.bytes,
            holder.elements
        FROM memory_sites AS holder
        INNER JOIN chosen
            ON
                holder.run_id = chosen.run_id
                AND holder.source_id = chosen.source_id
                AND holder.device = chosen.device
        WHERE holder.run_id IN (base, other) AND holder.level <> 'stack'
    ),

    sides AS (
        SELECT
            rank,
            device,
            level,
            name,
            max(bytes) FILTER (WHERE run_id = base) AS base_bytes,
            max(bytes) FILTER (WHERE run_id = other) AS other_bytes,
            max(elements) FILTER (WHERE run_id = base) AS base_elements,
            max(elements) FILTER (WHERE run_id = other) AS other_elements
        FROM figures
        GROUP BY rank, device, level, name
    ),

    known AS (
        SELECT
            rank,
            device,
            bool_or(run_id = base) AS in_base,
            bool_or(run_id = other) AS in_other
        FROM chosen
        GROUP BY rank, device
    ),

    -- What held nothing in a run that has the device held 0 bytes there.
    filled AS (
        SELECT
            sides.rank,
            sides.device,
            sides.level,
            sides.name,
            coalesce(sides.base_bytes, if(known.in_base AND sides.level <> 'curve', 0, NULL))
                AS base_bytes,
            coalesce(sides.other_bytes, if(known.in_other AND sides.level <> 'curve', 0, NULL))
                AS other_bytes,
            sides.base_elements,
            sides.other_elements
        FROM sides
        INNER JOIN known ON sides.rank = known.rank AND sides.device = known.device
    )

    SELECT
        rank,
        device,
        level,
        name,
        base_bytes,
        other_bytes,
        other_bytes - base_bytes AS change_bytes,
        100.0 * (other_bytes - base_bytes) / nullif(base_bytes, 0) AS percent,
        base_elements,
        other_elements
    FROM filled;
