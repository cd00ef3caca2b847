-- Idle time by cause in a range of steps: `bubble_causes_of_steps(run, from_step, to_step)`. Both
-- bounds are included. A null bound leaves the range open on that side; if both are null, it covers
-- the whole measured time. The times add up to `idle_ns` of `metrics_of_steps`.
-- One row: a cause of idle time in these steps, on a device of a rank; in a run without a device,
-- on the rank's host.
--
-- A gap that began before its step counts only from the start of the step. The full lengths of the
-- gaps in `bubbles` can therefore add up to a different time.
--
-- rank, device
-- cause    cause of the idle time, as in `bubbles`
-- bubbles  number of gaps that were ended by activities of these steps; null if the host is
--          measured
-- idle_ns  idle time of the cause, ns
-- percent  share of the idle time of these steps, 0 to 100
CREATE MACRO bubble_causes_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    WITH
    lost AS (
        SELECT
            found.run_id,
            found.device_id,
            found.part AS cause,
            sum(found.ns) AS ns
        FROM step_parts AS found
        WHERE found.run_id = run AND found.is_idle AND in_steps(found.step, from_step, to_step)
        GROUP BY ALL
        HAVING sum(found.ns) > 0
    ),

    gaps AS (
        SELECT gap.device_id, gap.cause, count(*) AS bubbles
        FROM measured_bubbles AS gap
        WHERE gap.run_id = run AND in_steps(gap.step, from_step, to_step)
        GROUP BY ALL
    )

    SELECT
        metrics.rank,
        metrics.device,
        lost.cause,
        -- Only gaps of devices are stored. If a cause has none, their number is 0 for a device, and
        -- unknown for a host.
        CASE WHEN metrics.measure = 'device' THEN coalesce(gaps.bubbles, 0) END AS bubbles,
        lost.ns::BIGINT AS idle_ns,
        -- Also partition by run, for DuckDB clients without the settings of `ingest.connect`: see
        -- `catalog.UNSOUND`.
        100.0 * lost.ns
        / sum(lost.ns) OVER (PARTITION BY lost.run_id, lost.device_id) AS percent
    FROM lost
    INNER JOIN run_metrics AS metrics USING (run_id, device_id)
    LEFT JOIN gaps USING (device_id, cause);
