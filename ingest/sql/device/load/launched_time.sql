-- What each thread had launched by each moment.
-- One row: a moment at which a thread launched device activities, with the sums over all that it
-- launched until then: of their durations, and of the idle times that they ended.
-- Materialised: ASOF joins read it.
SELECT
    launches.lane,
    launches.launch_ns,
    sum(sum(kernels.dur_ns)) OVER so_far::BIGINT AS device_ns,
    coalesce(sum(sum(gaps.to_ns - gaps.from_ns)) OVER so_far, 0)::BIGINT AS idle_ns
FROM launches
INNER JOIN kernels ON launches.event_id = kernels.event_id
LEFT JOIN gaps ON kernels.event_id = gaps.after_kernel_id
GROUP BY launches.lane, launches.launch_ns
WINDOW so_far AS (PARTITION BY launches.lane ORDER BY launches.launch_ns);
