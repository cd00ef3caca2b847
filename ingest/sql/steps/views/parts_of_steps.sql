-- What the time from one step to another consists of: `parts_of_steps(run, from_step, to_step)`.
-- Both steps are included. Without a bound, the range is open on that side; without both, it covers
-- the whole measured time.
-- One row: a part of these steps, on a device of a rank; on its host, in a run without a device.
--
-- rank     rank of the process
-- device   number of the device; null where the host is measured
-- part     name of the part, as in `parts`
-- ordinal  order in which to show the parts, from 1
-- is_idle  whether it is a cause of idle time; null for `lead` and `tail`
-- ns       time in these steps, ns; an overlap is negative
-- percent  of the wall time of these steps
CREATE MACRO parts_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    WITH totals AS (
        SELECT
            found.run_id,
            found.rank,
            found.device,
            found.part,
            any_value(found.ordinal) AS ordinal,
            any_value(found.is_idle) AS is_idle,
            sum(found.ns)::BIGINT AS ns
        FROM step_parts AS found
        WHERE found.run_id = run AND in_steps(found.step, from_step, to_step)
        GROUP BY found.run_id, found.rank, found.device, found.part
    )

    -- By run too, for DuckDB clients other than `ingest.connect`: see `catalog.UNSOUND`.
    SELECT
        * EXCLUDE (run_id),
        100.0 * ns / nullif(sum(ns) OVER (PARTITION BY run_id, totals.rank, device), 0) AS percent
    FROM totals
    ORDER BY totals.rank, device, ordinal;
