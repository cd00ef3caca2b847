-- What each rank did in each measured step, and how late it came to its collectives.
-- One row: a step of a device of a rank; in a run without a device, of its host.
--
-- run_id, rank, device_id, device
-- host_name                 host of the rank; null if not recorded
-- step                      number of the step (`steps.step`); null if no steps were found
-- is_median
-- wall_ns                   wall time of the step, ns
-- compute_ns                time of computing kernels, or of operators of a host, ns
-- waiting_ns                time in matched collectives in which it waited for other ranks, ns
-- transfer_ns               rest of the time in matched collectives, ns
-- unmatched_ns              time in other collectives, ns
-- exposed_communication_ns  communication time while no compute kernel ran, ns; null for a host
-- idle_ns                   idle time, ns
-- idle_causes               idle time by cause, as in `parts`, ns
-- peak_bytes                peak of memory in use during the step, bytes; null if not recorded
-- collectives               number of matched collectives that began in the step
-- last_collectives          number of those in which it came last
-- lateness_ns               mean time by which it came later to them than the first rank, ns
WITH
called AS (
    SELECT
        run_id,
        source_id,
        device_id,
        step,
        sum(wait_ns)::BIGINT AS waiting_ns,
        sum(transfer_ns)::BIGINT AS transfer_ns,
        sum(dur_ns) FILTER (WHERE wait_ns IS NULL)::BIGINT AS unmatched_ns,
        count(*) FILTER (WHERE is_matched) AS collectives,
        count(*) FILTER (WHERE is_last) AS last_collectives,
        avg(lateness_ns)::BIGINT AS lateness_ns
    FROM collectives
    GROUP BY run_id, source_id, device_id, step
),

parts AS (
    SELECT
        run_id,
        source_id,
        device_id,
        step,
        sum(ns) FILTER (WHERE part IN ('compute', 'compiled_code'))::BIGINT AS compute_ns,
        map_from_entries(
            list((part, ns) ORDER BY ordinal) FILTER (WHERE is_idle AND ns > 0)
        ) AS idle_causes
    FROM step_parts
    GROUP BY run_id, source_id, device_id, step
)

SELECT
    metrics.run_id,
    metrics.rank,
    metrics.device_id,
    metrics.device,
    clocks.host_name,
    metrics.step,
    metrics.is_median,
    metrics.wall_ns,
    parts.compute_ns,
    called.waiting_ns,
    called.transfer_ns,
    called.unmatched_ns,
    metrics.exposed_communication_ns,
    metrics.idle_ns,
    parts.idle_causes,
    metrics.peak_bytes,
    coalesce(called.collectives, 0) AS collectives,
    coalesce(called.last_collectives, 0) AS last_collectives,
    called.lateness_ns
FROM step_metrics AS metrics
LEFT JOIN parts
    ON
        metrics.run_id = parts.run_id
        AND metrics.source_id = parts.source_id
        AND metrics.device_id = parts.device_id
        AND metrics.step IS NOT DISTINCT FROM parts.step
LEFT JOIN called
    ON
        metrics.run_id = called.run_id
        AND metrics.source_id = called.source_id
        AND metrics.device_id = called.device_id
        AND metrics.step IS NOT DISTINCT FROM called.step
LEFT JOIN rank_clocks AS clocks
    ON metrics.run_id = clocks.run_id AND metrics.rank = clocks.rank
WHERE metrics.start_ns IS NOT NULL;
