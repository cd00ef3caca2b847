-- Busy and idle time of a device, and its busy time by class of activity.
-- One row: a device of one input file.
-- Materialised: a relation reads it, and its file is written from it.
--
-- run_id, source_id, rank, device_id, device
-- start_ns                  Unix time at which the first activity began, ns
-- span_ns                   time from the start of the first activity to the end of the last, ns
-- busy_ns                   time with any activity on any stream, ns
-- idle_ns                   time without activities: `span_ns` minus `busy_ns`, ns
-- bubbles
-- activities                number of kernels, memory copies and memory sets
-- compute_ns                time with a compute kernel, ns
-- communication_ns          time with a communication kernel, ns
-- copy_ns                   time with a memory copy or memset, ns
-- memcpy_ns                 time with a memory copy, ns
-- memset_ns                 time with a memory set, ns
-- exposed_communication_ns  time with a communication kernel but no compute kernel, ns
-- exposed_copy_ns           time with a memory copy or memset but no kernel, ns
WITH lengths AS (
    SELECT
        source_id,
        device_id,
        min(start_ns) AS start_ns,
        max(end_ns) - min(start_ns) AS span_ns,
        count(*) FILTER (WHERE class = 'all') - 1 AS bubbles,
        sum(activities) FILTER (WHERE class = 'all')::BIGINT AS activities,
        coalesce(sum(end_ns - start_ns) FILTER (WHERE class = 'all'), 0)::BIGINT AS busy_ns,
        coalesce(sum(end_ns - start_ns) FILTER (WHERE class = 'compute'), 0)::BIGINT AS compute_ns,
        coalesce(sum(end_ns - start_ns) FILTER (WHERE class = 'communication'), 0)::BIGINT
            AS communication_ns,
        coalesce(sum(end_ns - start_ns) FILTER (WHERE class = 'copy'), 0)::BIGINT AS copy_ns,
        coalesce(sum(end_ns - start_ns) FILTER (WHERE class = 'memcpy'), 0)::BIGINT AS memcpy_ns,
        coalesce(sum(end_ns - start_ns) FILTER (WHERE class = 'memset'), 0)::BIGINT AS memset_ns,
        coalesce(sum(end_ns - start_ns) FILTER (WHERE class = 'working'), 0)::BIGINT AS working_ns
    FROM device_islands
    GROUP BY ALL
)

SELECT
    source_id,
    rank,
    device_id,
    device,
    start_ns,
    span_ns,
    busy_ns,
    span_ns - busy_ns AS idle_ns,
    bubbles,
    activities,
    compute_ns,
    communication_ns,
    copy_ns,
    memcpy_ns,
    memset_ns,
    working_ns - compute_ns AS exposed_communication_ns,
    busy_ns - working_ns AS exposed_copy_ns
FROM lengths
INNER JOIN work_devices USING (device_id);
