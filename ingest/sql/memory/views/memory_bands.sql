-- The memory curve of a device divided by what held the memory:
-- `memory_bands(run, of_source, of_device, by_level, axis, since, until, bins, most)`, with the
-- axis of `memory_curve` and the levels of `memory_sites_at`. The `most` largest holders at the
-- highest moment of the stretch have a band each, all others together one more; at every moment the
-- bands add up to the curve. Of each bin the highest and the last moment are kept.
-- One row: a band at a moment.
--
-- place    where the moment is on the axis
-- ordinal  actions of the device before it; -1: the start
-- time_ns  Unix time, ns
-- name     the holder; null for all others together
-- size     number of the band, from 0, the largest first
-- bytes    what it held, bytes
CREATE MACRO memory_bands(
    run, of_source, of_device, by_level, axis, since, until, bins, most
) AS TABLE
    WITH
    curve AS (
        SELECT * FROM memory_curve(run, of_source, of_device, axis, since, until, bins)
    ),

    moments AS (
        SELECT
            any_value(place) AS place,
            ordinal,
            any_value(time_ns) AS time_ns,
            any_value(used_bytes) AS used_bytes
        FROM (
            SELECT *, ordinal = max(ordinal) OVER (PARTITION BY bin) AS is_last FROM curve
        )
        WHERE is_highest OR is_last OR ordinal = (SELECT min(ordinal) FROM curve)
        GROUP BY ordinal
    ),

    -- An allocation adds to its holder at its birth and takes from it at its death. A trace tells
    -- by its totals of memory that was there before it, too.
    changes AS (
        SELECT
            before_trace() AS name,
            -1 AS ordinal,
            greatest(any_value(peak.start_bytes) - coalesce(sum(holder.bytes), 0), 0) AS bytes
        FROM memory_peak AS peak
        LEFT JOIN memory_holders AS holder
            ON
                peak.run_id = holder.run_id
                AND peak.source_id = holder.source_id
                AND peak.device = holder.device
                AND holder.level = by_level
                AND holder.birth_ordinal = -1
        WHERE
            peak.run_id = run
            AND peak.source_id = of_source
            AND peak.device = of_device
            AND peak.elements > 0
        UNION ALL
        SELECT name, birth_ordinal AS ordinal, bytes
        FROM memory_holders
        WHERE
            run_id = run AND source_id = of_source AND device = of_device AND level = by_level
        UNION ALL
        SELECT name, death_ordinal AS ordinal, -bytes AS bytes
        FROM memory_holders
        WHERE
            run_id = run AND source_id = of_source AND device = of_device AND level = by_level
        UNION ALL
        SELECT category AS name, ordinal, change_bytes AS bytes
        FROM memory_events
        WHERE
            run_id = run
            AND source_id = of_source
            AND device = of_device
            AND origin = 'timeline'
            AND by_level = 'category'
    ),

    highest AS (
        SELECT arg_min(ordinal, (-used_bytes, ordinal)) AS ordinal FROM moments
    ),

    bands AS (
        SELECT name, row_number() OVER (ORDER BY bytes DESC, name) - 1 AS size
        FROM (
            SELECT changes.name, sum(changes.bytes) AS bytes
            FROM changes, highest
            WHERE changes.ordinal <= highest.ordinal
            GROUP BY changes.name
        )
        WHERE bytes > 0
        ORDER BY size
        LIMIT most
    ),

    -- Between two moments only sums count.
    stretches AS (
        SELECT moments.ordinal, changes.name, sum(changes.bytes) AS bytes
        FROM (
            SELECT name, ordinal, sum(bytes) AS bytes
            FROM changes
            WHERE name IN (SELECT name FROM bands)
            GROUP BY name, ordinal
        ) AS changes
        ASOF INNER JOIN moments ON changes.ordinal <= moments.ordinal
        GROUP BY moments.ordinal, changes.name
    ),

    drawn AS (
        SELECT
            moments.place,
            moments.ordinal,
            moments.time_ns,
            moments.used_bytes,
            bands.name,
            bands.size,
            coalesce(
                sum(stretches.bytes) OVER (
                    PARTITION BY bands.name ORDER BY moments.ordinal ROWS UNBOUNDED PRECEDING
                ), 0
            ) AS bytes
        FROM moments
        CROSS JOIN bands
        LEFT JOIN stretches
            ON moments.ordinal = stretches.ordinal AND bands.name = stretches.name
    )

    SELECT place, ordinal, time_ns, name, size, bytes::BIGINT AS bytes
    FROM drawn
    UNION ALL
    SELECT
        moments.place,
        moments.ordinal,
        moments.time_ns,
        NULL AS name,
        (SELECT count(*) FROM bands) AS size,
        greatest(moments.used_bytes - coalesce(sum(drawn.bytes), 0), 0)::BIGINT AS bytes
    FROM moments
    LEFT JOIN drawn ON moments.ordinal = drawn.ordinal
    GROUP BY moments.place, moments.ordinal, moments.time_ns, moments.used_bytes;
