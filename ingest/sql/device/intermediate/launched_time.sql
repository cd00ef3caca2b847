-- Cumulative device time and idle time by launching thread.
-- One row: a time at which a thread launched device activities. `device_ns` sums the durations of
-- all activities that the thread has launched so far, `idle_ns` the idle time directly before them.
-- Materialised: ASOF joins read it.
SELECT
    launches.lane,
    launches.launch_ns,
    sum(sum(kernels.dur_ns)) OVER so_far::BIGINT AS device_ns,
    coalesce(sum(sum(gaps.to_ns - gaps.from_ns)) OVER so_far, 0)::BIGINT AS idle_ns
FROM launches
INNER JOIN kernels ON launches.event_id = kernels.event_id
LEFT JOIN gaps ON kernels.event_id = gaps.after_kernel_id AND NOT gaps.is_outside
GROUP BY launches.lane, launches.launch_ns
WINDOW so_far AS (PARTITION BY launches.lane ORDER BY launches.launch_ns);
