-- Why a device idled from one step to another, and what the host did meanwhile:
-- `bubbles_of_steps(run, from_step, to_step)`. Both steps are included. Without a bound, the range
-- is open on that side; without both, it covers the whole recording. A gap counts in the step of
-- the activity that ended it.
-- One row: a host operator and frame during gaps of one cause, on one device of one rank.
--
-- rank        rank of the process
-- device      number of the device
-- cause       as in `bubbles`
-- host_op     operator or annotation that filled most of the gap; null when none is known
-- host_frame  Python frame that filled most of it; null when the trace has no stacks
-- bubbles     number of gaps
-- bubble_ns   time lost to them, ns
-- longest_ns  the longest of them, ns
CREATE MACRO bubbles_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    SELECT
        gap.rank,
        gap.device,
        gap.cause,
        gap.host_op,
        gap.host_frame,
        count(*) AS bubbles,
        sum(gap.dur_ns)::BIGINT AS bubble_ns,
        max(gap.dur_ns) AS longest_ns
    FROM bubbles AS gap
    WHERE gap.run_id = run AND in_steps(gap.step, from_step, to_step)
    GROUP BY gap.rank, gap.device, gap.cause, gap.host_op, gap.host_frame;
