-- Idle time of each device in its median step by cause, and what the host did for most of it.
-- One row: a cause of bubbles on one device of one rank of a run.
--
-- run_id       the run
-- rank         rank of the process
-- device       number of the device
-- cause        as in `bubbles`
-- bubbles      number of gaps that the step ended
-- bubble_ns    their length, ns; a gap can begin before the step
-- location     where most of it was lost: for cause `sync` the wait, else what the host was doing,
--              and the Python frame where the trace has stacks; null when neither is known
-- location_ns  time lost there, ns
WITH places AS (
    SELECT
        run_id,
        rank,
        device,
        cause,
        nullif(concat_ws(
            ' at ',
            if(cause = 'sync', wait, host_op),
            if(cause = 'sync', wait_frame, host_frame)
        ), '') AS location,
        count(*) AS bubbles,
        sum(dur_ns)::BIGINT AS bubble_ns
    FROM measured_bubbles
    WHERE is_median
    GROUP BY run_id, rank, device, cause, location
)

SELECT
    run_id,
    rank,
    device,
    cause,
    sum(bubbles)::BIGINT AS bubbles,
    sum(bubble_ns)::BIGINT AS bubble_ns,
    arg_max(location, (bubble_ns, location)) AS location,
    max(bubble_ns) FILTER (WHERE location IS NOT NULL) AS location_ns
FROM places
GROUP BY run_id, rank, device, cause;
