-- The memory curve of a device divided by owner: `memory_by_owner_over_time(run, of_source,
-- of_device_id, by_level, axis, since, until, bins, most)`, with the axis of `memory_curve` and the
-- levels of `memory_owners`. The `most` largest owners at the highest moment of the range have rows
-- of their own. All others are combined. At every moment of `memory_curve_moments` the rows add up
-- to the curve.
-- One row: an owner at a moment, or all others together.
--
-- position
-- ordinal        the moment (`memory_timeline.ordinal`)
-- time_ns
-- name           the owner; null for all others together
-- is_known       whether the owner is known; null for all others together
-- owner_ordinal  rank of the owner by size, from 0 for the largest; all others together come last
-- bytes          memory that the owner held, bytes
CREATE MACRO memory_by_owner_over_time(
    run, of_source, of_device_id, by_level, axis, since, until, bins, most
) AS TABLE
    WITH
    moments AS (
        SELECT *
        FROM memory_curve_moments(run, of_source, of_device_id, axis, since, until, bins)
    ),

    owned AS (
        SELECT *
        FROM memory_owners
        WHERE
            run_id = run
            AND source_id = of_source
            AND device_id = of_device_id
            AND level = by_level
    ),

    -- An allocation adds to its owner when it is made, and subtracts when it is freed. The
    -- totals of a trace also show how much memory was in use before it.
    changes AS (
        SELECT
            before_trace() AS name,
            FALSE AS is_known,
            -1 AS ordinal,
            greatest(any_value(peak.start_bytes) - coalesce(sum(owner.bytes), 0), 0) AS bytes
        FROM memory_peak AS peak
        LEFT JOIN owned AS owner ON owner.alloc_ordinal = -1
        WHERE
            peak.run_id = run
            AND peak.source_id = of_source
            AND peak.device_id = of_device_id
            AND peak.allocations > 0
        UNION ALL
        SELECT
            name,
            is_known,
            unnest([alloc_ordinal, free_ordinal]) AS ordinal,
            unnest([bytes, -bytes]) AS bytes
        FROM owned
        UNION ALL
        SELECT category AS name, TRUE AS is_known, ordinal, change_bytes AS bytes
        FROM memory_events
        WHERE
            run_id = run
            AND source_id = of_source
            AND device_id = of_device_id
            AND origin = 'timeline'
            AND by_level = 'category'
    ),

    highest AS (
        SELECT arg_min(ordinal, (-used_bytes, ordinal)) AS ordinal FROM moments
    ),

    owners AS (
        SELECT
            name,
            is_known,
            row_number() OVER (ORDER BY bytes DESC, name) - 1 AS owner_ordinal
        FROM (
            SELECT
                changes.name,
                bool_and(changes.is_known) AS is_known,
                sum(changes.bytes) AS bytes
            FROM changes, highest
            WHERE changes.ordinal <= highest.ordinal
            GROUP BY changes.name
        )
        WHERE bytes > 0
        ORDER BY owner_ordinal
        LIMIT most
    ),

    -- Only the sum of the changes between two moments matters.
    sums AS (
        SELECT moments.ordinal, changes.name, sum(changes.bytes) AS bytes
        FROM (
            SELECT name, ordinal, sum(bytes) AS bytes
            FROM changes
            WHERE name IN (SELECT name FROM owners)
            GROUP BY name, ordinal
        ) AS changes
        ASOF INNER JOIN moments ON changes.ordinal <= moments.ordinal
        GROUP BY moments.ordinal, changes.name
    ),

    drawn AS (
        SELECT
            moments.position,
            moments.ordinal,
            moments.time_ns,
            moments.used_bytes,
            owners.name,
            owners.is_known,
            owners.owner_ordinal,
            coalesce(
                sum(sums.bytes) OVER (
                    PARTITION BY owners.name ORDER BY moments.ordinal ROWS UNBOUNDED PRECEDING
                ), 0
            ) AS bytes
        FROM moments
        CROSS JOIN owners
        LEFT JOIN sums
            ON moments.ordinal = sums.ordinal AND owners.name = sums.name
    )

    SELECT position, ordinal, time_ns, name, is_known, owner_ordinal, bytes::BIGINT AS bytes
    FROM drawn
    UNION ALL
    SELECT
        moments.position,
        moments.ordinal,
        moments.time_ns,
        NULL AS name,
        NULL AS is_known,
        (SELECT count(*) FROM owners) AS owner_ordinal,
        greatest(moments.used_bytes - coalesce(sum(drawn.bytes), 0), 0)::BIGINT AS bytes
    FROM moments
    LEFT JOIN drawn ON moments.ordinal = drawn.ordinal
    GROUP BY moments.position, moments.ordinal, moments.time_ns, moments.used_bytes;
