-- The moments at which a memory curve is divided into bands: `memory_curve_moments(run, of_source,
-- of_device_id, axis, since, until, bins)`, with the arguments of `memory_curve`. The highest and
-- the last moment of each bin are kept, and the moment at which the range begins.
-- One row: a moment of `memory_timeline`.
--
-- position
-- ordinal     the moment (`memory_timeline.ordinal`)
-- time_ns     Unix time, ns; null if it was not recorded
-- used_bytes  memory in use, bytes: active memory in a snapshot, or else allocated memory
CREATE MACRO memory_curve_moments(run, of_source, of_device_id, axis, since, until, bins) AS TABLE
    WITH curve AS (
        SELECT *
        FROM memory_curve(run, of_source, of_device_id, axis, since, until, bins)
    )

    SELECT
        any_value(position) AS position,
        ordinal,
        any_value(time_ns) AS time_ns,
        any_value(used_bytes) AS used_bytes
    FROM (
        SELECT *, ordinal = max(ordinal) OVER (PARTITION BY bin) AS is_last FROM curve
    )
    WHERE is_highest OR is_last OR ordinal = (SELECT min(ordinal) FROM curve)
    GROUP BY ordinal;
