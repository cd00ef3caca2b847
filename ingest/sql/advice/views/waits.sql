-- Waits for the device after which it idled, because the host could not launch ahead: `.item()`,
-- copies of pageable memory, `torch.cuda.synchronize()`. Those of the measured steps, as totals.
-- One row: a place in the program that waited, on one device of one rank of a run.
--
-- run_id          the run
-- rank            rank of the process
-- device          number of the device
-- wait            operator, or without one the call, in which the host waited
-- wait_frame      innermost line of Python around it; null when the trace has no stacks
-- copy            the copy that it waited for; null when that was no copy
-- bubbles         gaps that followed
-- bubble_ns       time that the device idled in them, ns
-- step_bubbles    of the gaps, those that the median step ended
-- step_bubble_ns  time that the device idled in these, ns
SELECT
    run_id,
    rank,
    device,
    wait,
    wait_frame,
    CASE WHEN starts_with(before_kernel, 'Memcpy') THEN before_kernel END AS copy,
    count(*) AS bubbles,
    sum(dur_ns)::BIGINT AS bubble_ns,
    count(*) FILTER (WHERE is_median) AS step_bubbles,
    coalesce(sum(dur_ns) FILTER (WHERE is_median), 0)::BIGINT AS step_bubble_ns
FROM measured_bubbles
WHERE cause = 'sync'
GROUP BY run_id, rank, device, wait, wait_frame, copy;
