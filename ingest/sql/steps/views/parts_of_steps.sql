-- The parts of the time of a range of steps: `parts_of_steps(run, from_step, to_step)`. Both bounds
-- are included. A null bound leaves the range open on that side; if both are null, it covers the
-- whole measured time.
-- One row: a part of these steps, on a device of a rank; in a run without a device, on the rank's
-- host.
--
-- device_id, rank, device, part
-- ordinal  display order of the parts, from 1
-- is_idle  whether it is a cause of idle time; null for `fill`
-- ns       time of the part in these steps, ns; negative for an overlap
-- percent  share of the wall time of these steps
CREATE MACRO parts_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    WITH totals AS (
        SELECT
            found.run_id,
            found.device_id,
            found.rank,
            found.device,
            found.part,
            any_value(found.ordinal) AS ordinal,
            any_value(found.is_idle) AS is_idle,
            sum(found.ns)::BIGINT AS ns
        FROM step_parts AS found
        WHERE found.run_id = run AND in_steps(found.step, from_step, to_step)
        GROUP BY ALL
    )

    -- Also partition by run, for DuckDB clients without the settings of `ingest.connect`: see
    -- `catalog.UNSOUND`.
    SELECT
        * EXCLUDE (run_id),
        100.0 * ns / nullif(sum(ns) OVER (PARTITION BY run_id, device_id), 0) AS percent
    FROM totals
    ORDER BY totals.rank, device, ordinal;
