-- The memory curve of a device divided into its largest allocations:
-- `memory_by_allocation_over_time(run, of_source, of_device_id, axis, since, until, bins, most)`,
-- with the axis of `memory_curve`. The `most` largest allocations in the range have rows of their
-- own; of equal ones, those that live longest in it. All others are combined. At every moment of
-- `memory_curve_moments` the rows add up to the curve.
-- One row: an allocation at a moment of its life, or all others together.
--
-- position
-- ordinal             the moment (`memory_timeline.ordinal`)
-- time_ns
-- allocation_id       the allocation (`memory_allocations.allocation_id`); null for all others
--                     together
-- allocation_ordinal  number of the allocation, from 0, in the order in which they were allocated;
--                     all others together come last
-- bytes               size of the allocation, bytes
-- below_bytes         total size of the allocations with a lower `allocation_ordinal` that are in
--                     use at the moment, bytes
CREATE MACRO memory_by_allocation_over_time(
    run, of_source, of_device_id, axis, since, until, bins, most
) AS TABLE
    WITH
    moments AS (
        SELECT *
        FROM memory_curve_moments(run, of_source, of_device_id, axis, since, until, bins)
    ),

    lives AS (
        SELECT
            allocation_id,
            bytes,
            coalesce(alloc_ordinal, -1) AS alloc_ordinal,
            coalesce(free_ordinal, 9223372036854775807) AS free_ordinal
        FROM memory_allocations
        WHERE run_id = run AND source_id = of_source AND device_id = of_device_id AND bytes > 0
    ),

    -- Allocations in use at one of these moments, with the first such moment.
    seen AS (
        SELECT lives.*, moments.ordinal AS seen_ordinal
        FROM lives
        ASOF INNER JOIN moments ON lives.alloc_ordinal <= moments.ordinal
        WHERE moments.ordinal < lives.free_ordinal
    ),

    largest AS (
        SELECT *
        FROM seen
        ORDER BY
            bytes DESC,
            least(free_ordinal, (SELECT max(ordinal) + 1 FROM moments)) - seen_ordinal DESC,
            alloc_ordinal,
            allocation_id
        LIMIT most
    ),

    drawn AS (
        SELECT
            moments.ordinal,
            numbered.allocation_id,
            numbered.allocation_ordinal,
            numbered.bytes
        FROM (
            SELECT
                *,
                row_number() OVER (ORDER BY alloc_ordinal, allocation_id) - 1 AS allocation_ordinal
            FROM largest
        ) AS numbered
        INNER JOIN moments
            ON
                numbered.alloc_ordinal <= moments.ordinal
                AND numbered.free_ordinal > moments.ordinal
    ),

    others AS (
        SELECT
            moments.ordinal,
            NULL AS allocation_id,
            (SELECT count(*) FROM largest) AS allocation_ordinal,
            greatest(any_value(moments.used_bytes) - coalesce(sum(drawn.bytes), 0), 0) AS bytes
        FROM moments
        LEFT JOIN drawn ON moments.ordinal = drawn.ordinal
        GROUP BY moments.ordinal
    )

    SELECT
        moments.position,
        moments.ordinal,
        moments.time_ns,
        bands.allocation_id,
        bands.allocation_ordinal,
        bands.bytes::BIGINT AS bytes,
        coalesce(
            sum(bands.bytes) OVER (
                PARTITION BY bands.ordinal
                ORDER BY bands.allocation_ordinal ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0
        )::BIGINT AS below_bytes
    FROM (
        FROM drawn
        UNION ALL BY NAME
        FROM others
    ) AS bands
    INNER JOIN moments ON bands.ordinal = moments.ordinal;
