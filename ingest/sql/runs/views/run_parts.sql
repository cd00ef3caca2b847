-- What the average step of each run consists of: the parts of `step_parts`, divided by the number
-- of steps. Times are rounded to whole nanoseconds so that they still add up to the wall time.
-- One row: a part of the steps of a device of a rank; of a run without a device, of a rank's host.
--
-- run_id           the run
-- rank             rank of the process
-- device           number of the device; null where the host is measured
-- slowest          whether this device has the longest wall time of the run
-- slowest_of_rank  whether it has the longest of its rank
-- part             name of the part, as in `parts`
-- ordinal          order in which to show the parts, from 1
-- is_idle          whether it is a cause of idle time; null for `lead` and `tail`
-- ns               time in an average step, ns; an overlap is negative
-- total_ns         time in all steps, ns
WITH
-- A part has a row in each step, so that its rows count the steps.
totals AS (
    SELECT
        parts.run_id,
        parts.rank,
        parts.device,
        parts.part,
        any_value(parts.ordinal) AS ordinal,
        any_value(parts.is_idle) AS is_idle,
        greatest(count(parts.step), 1) AS steps,
        sum(parts.ns)::BIGINT AS total_ns
    FROM step_parts AS parts
    GROUP BY parts.run_id, parts.rank, parts.device, parts.part
),

reached AS (
    SELECT
        *,
        sum(total_ns) OVER (
            PARTITION BY run_id, totals.rank, device ORDER BY ordinal
        )::BIGINT // steps AS reached_ns,
        sum(total_ns) OVER (PARTITION BY run_id, totals.rank, device)::BIGINT // steps AS wall_ns
    FROM totals
)

SELECT
    run_id,
    reached.rank,
    device,
    dense_rank() OVER (PARTITION BY run_id ORDER BY wall_ns DESC, reached.rank, device) = 1
        AS slowest,
    dense_rank() OVER (PARTITION BY run_id, reached.rank ORDER BY wall_ns DESC, device) = 1
        AS slowest_of_rank,
    part,
    ordinal,
    is_idle,
    reached_ns - lag(reached_ns, 1, 0) OVER (
        PARTITION BY run_id, reached.rank, device ORDER BY ordinal
    ) AS ns,
    total_ns
FROM reached;
