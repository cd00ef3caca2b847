-- Idle time of each stream, even if other streams of the device were busy.
-- One row: a gap between two activities of a stream.
--
-- run_id, rank, device, stream
-- start_ns         Unix time at which the stream became idle, ns
-- dur_ns           duration of the gap, ns
-- launch_delay_ns  time from the start of the gap to the launch of the activity after it, ns;
--                  negative if it was launched before the gap; null if the launch is unknown
-- before_kernel_id, after_kernel_id
-- step             step of the activity after the gap (`steps.step`)
WITH reached AS (
    SELECT
        *,
        max((start_ns + dur_ns, event_id)) OVER (
            PARTITION BY run_id, source_id, device, stream ORDER BY start_ns, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
    FROM kernels
)

SELECT
    run_id,
    rank,
    device,
    stream,
    before[1] AS start_ns,
    start_ns - before[1] AS dur_ns,
    if(launch_id IS NOT NULL, launch_ns - before[1], NULL) AS launch_delay_ns,
    before[2] AS before_kernel_id,
    event_id AS after_kernel_id,
    step
FROM reached
WHERE reached.start_ns > before[1];
