-- Idle time of each device in its measured steps by cause, and what the host did for most of it.
-- One row: a cause of bubbles on one device of one rank of a run.
--
-- run_id            the run
-- rank              rank of the process
-- device            number of the device
-- cause             as in `bubbles`
-- bubbles           number of gaps
-- bubble_ns         time lost to them, ns
-- location          where most of it was lost: for cause `sync` the wait, else what the host was
--                   doing, and the Python frame where the trace has stacks; null when neither is
--                   known
-- location_ns       time lost there, ns
-- step_location     the same, of gaps that the median step ended
-- step_location_ns  time lost there in these, ns
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
        sum(dur_ns)::BIGINT AS bubble_ns,
        sum(dur_ns) FILTER (WHERE is_median) AS step_ns
    FROM measured_bubbles
    GROUP BY run_id, rank, device, cause, location
)

SELECT
    run_id,
    rank,
    device,
    cause,
    sum(bubbles)::BIGINT AS bubbles,
    sum(bubble_ns)::BIGINT AS bubble_ns,
    arg_max(location, bubble_ns) AS location,
    arg_max(bubble_ns, bubble_ns) FILTER (WHERE location IS NOT NULL) AS location_ns,
    arg_max(location, step_ns) AS step_location,
    (max(step_ns) FILTER (WHERE location IS NOT NULL))::BIGINT AS step_location_ns
FROM places
GROUP BY run_id, rank, device, cause;
