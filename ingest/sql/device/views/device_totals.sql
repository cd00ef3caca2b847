-- Busy and idle time of each device of a rank, over all its input files.
-- One row: a device of one rank of a run.
--
-- run_id, device_id, rank, device
-- start_ns      Unix time at which the first activity began, ns
-- end_ns        Unix time at which the last activity ended, ns
-- span_ns       time from the first activity of an input file to its last, summed over the files,
--               ns
-- busy_ns       time with an activity on any stream, ns
-- idle_ns       time without activities, ns
-- idle_percent  idle time as a share of the span, 0 to 100; null if the span is 0
-- bubbles
-- activities    number of kernels, memory copies and memory sets
SELECT
    run_id,
    device_id,
    rank,
    device,
    min(start_ns) AS start_ns,
    max(start_ns + span_ns) AS end_ns,
    sum(span_ns)::BIGINT AS span_ns,
    sum(busy_ns)::BIGINT AS busy_ns,
    sum(idle_ns)::BIGINT AS idle_ns,
    100.0 * sum(idle_ns) / nullif(sum(span_ns), 0) AS idle_percent,
    sum(bubbles)::BIGINT AS bubbles,
    sum(activities)::BIGINT AS activities
FROM device_time
GROUP BY run_id, device_id, rank, device;
