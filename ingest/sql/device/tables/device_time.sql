-- How a device spent its time: busy, idle, and by class of activity.
-- One row: a device of one input file.
-- Materialised: a relation reads it, and its file is written from it.
--
-- run_id                    the run
-- source_id                 the input file
-- rank                      rank of the process
-- device                    number of the device
-- start_ns                  Unix time at which its first activity began, ns
-- span_ns                   from the first activity's start to the last one's end, ns
-- busy_ns                   union of all activities over all streams, ns
-- bubble_ns                 span less busy, ns
-- bubbles                   number of gaps
-- activities                number of kernels, copies and sets
-- compute_ns                union of the compute kernels, ns
-- communication_ns          union of the communication kernels, ns
-- copy_ns                   union of copies and sets, ns
-- memcpy_ns                 union of copies, ns
-- memset_ns                 union of sets, ns
-- exposed_communication_ns  communication while no compute kernel ran, ns
-- exposed_copy_ns           copies while neither compute nor communication ran, ns
WITH lengths AS (
    SELECT
        source_id,
        device,
        any_value(rank) AS rank,
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
    GROUP BY source_id, device
)

SELECT
    source_id,
    rank,
    device,
    start_ns,
    span_ns,
    busy_ns,
    span_ns - busy_ns AS bubble_ns,
    bubbles,
    activities,
    compute_ns,
    communication_ns,
    copy_ns,
    memcpy_ns,
    memset_ns,
    working_ns - compute_ns AS exposed_communication_ns,
    busy_ns - working_ns AS exposed_copy_ns
FROM lengths;
