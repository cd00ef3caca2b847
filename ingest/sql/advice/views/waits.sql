-- Waits for the device after which it idled, because the host could not launch ahead: `.item()`,
-- copies of pageable memory, `torch.cuda.synchronize()`. Those of the measured steps.
-- One row: a place in the program that waited, in a step of one device of one rank of a run.
--
-- run_id      the run
-- rank        rank of the process
-- device      number of the device
-- step        step of the activities that ended the gaps (`steps.step`)
-- is_median   whether it is the device's median step; always true where no steps were found
-- wait        operator, or without one the call, in which the host waited
-- wait_frame  innermost line of Python around it; null when the trace has no stacks
-- copy        the copy that it waited for; null when that was no copy
-- bubbles     gaps that followed
-- bubble_ns   time that the device idled in them, ns
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
    sum(dur_ns)::BIGINT AS bubble_ns
FROM measured_bubbles
WHERE cause = 'sync'
GROUP BY run_id, rank, device, step, is_median, wait, wait_frame, copy;
