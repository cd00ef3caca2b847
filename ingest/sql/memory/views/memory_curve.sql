-- The memory curve of a device at screen resolution: `memory_curve(run, of_source, of_device_id,
-- axis, since, until, bins)`. The `axis` is `time`, in nanoseconds since the device's first action,
-- or `order`, in actions; `since` and `until` are positions on it. The first, lowest, highest and
-- last moments of each bin are kept, so a line through them looks like the line through all moments
-- (M4).
-- One row: a moment of `memory_timeline`.
--
-- position
-- bin         number of the bin, from 0
-- ordinal     the moment (`memory_timeline.ordinal`)
-- time_ns     Unix time, ns; null if it was not recorded
-- action      the allocator's action; null at the start
-- used_bytes, allocated_bytes, reserved_bytes
-- is_highest  whether it is the highest moment of its bin
CREATE MACRO memory_curve(run, of_source, of_device_id, axis, since, until, bins) AS TABLE
    WITH
    placed AS (
        SELECT
            ordinal,
            CASE axis
                WHEN 'time' THEN coalesce(time_ns, first_ns) - first_ns
                ELSE greatest(ordinal, 0)
            END AS position,
            used_bytes,
            reserved_bytes
        FROM memory_timeline
        CROSS JOIN (
            SELECT first_ns
            FROM memory_peak
            WHERE run_id = run AND source_id = of_source AND device_id = of_device_id
        )
        WHERE run_id = run AND source_id = of_source AND device_id = of_device_id
    ),

    binned AS (
        SELECT
            *,
            least(
                (position - since::BIGINT)::HUGEINT * bins
                // greatest(1, until::BIGINT - since::BIGINT),
                bins - 1
            )::BIGINT AS bin
        FROM placed
        WHERE position BETWEEN since::BIGINT AND until::BIGINT
    ),

    extremes AS (
        SELECT
            bin,
            min(ordinal) AS first,
            max(ordinal) AS last,
            arg_min(ordinal, (used_bytes, ordinal)) AS lowest,
            arg_min(ordinal, (-used_bytes, ordinal)) AS highest,
            arg_min(ordinal, (-reserved_bytes, ordinal)) AS highest_reserved
        FROM binned
        GROUP BY bin
    ),

    kept AS (
        SELECT bin, unnest([first, lowest, highest, last, highest_reserved]) AS ordinal, highest
        FROM extremes
        UNION
        -- The value of the curve at the start of the range.
        SELECT 0 AS bin, max(ordinal) AS ordinal, NULL AS highest
        FROM placed
        WHERE position < since::BIGINT
    )

    SELECT
        greatest(placed.position, since::BIGINT) AS position,
        kept.bin,
        moment.ordinal,
        moment.time_ns,
        moment.action,
        placed.used_bytes,
        moment.allocated_bytes,
        moment.reserved_bytes,
        coalesce(kept.ordinal = kept.highest, FALSE) AS is_highest
    FROM kept
    INNER JOIN placed ON kept.ordinal = placed.ordinal
    INNER JOIN memory_timeline AS moment
        ON
            moment.run_id = run
            AND moment.source_id = of_source
            AND moment.device_id = of_device_id
            AND kept.ordinal = moment.ordinal;
