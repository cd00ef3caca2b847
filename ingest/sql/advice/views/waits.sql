-- Waits for the device in the measured steps after which the device idled, because the host could
-- not launch ahead: `.item()`, copies of pageable memory, `torch.cuda.synchronize()`.
-- One row: an operator or call that waited, in a step of one device of one rank of a run.
--
-- run_id, rank, device
-- step     step of the activities that ended the gaps (`steps.step`)
-- is_median
-- wait     operator in which the host waited, or without an operator the call
-- wait_frame
-- copy     copy that the host waited for; null if it did not wait for a copy
-- bubbles  number of gaps that followed the waits
-- idle_ns  idle time of the device in the gaps that followed the waits, ns
SELECT
    run_id,
    rank,
    device,
    step,
    is_median,
    wait,
    wait_frame,
    CASE WHEN starts_with(before_kernel, 'Memcpy') THEN before_kernel END AS copy,
    count(*) AS bubbles,
    sum(dur_ns)::BIGINT AS idle_ns
FROM measured_bubbles
WHERE cause = 'sync'
GROUP BY run_id, rank, device, step, is_median, wait, wait_frame, copy;
