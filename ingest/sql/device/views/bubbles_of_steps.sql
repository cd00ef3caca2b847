-- Why a device was idle in a range of steps, and what the host did meanwhile:
-- `bubbles_of_steps(run, from_step, to_step)`. Both bounds are included. A null bound leaves the
-- range open on that side; if both are null, it covers the whole measured time. A gap counts in the
-- step of the activity after it.
-- One row: a host operator and a Python frame during gaps of one cause, on one device of one rank.
--
-- rank, device
-- cause    cause of idle time, as in `bubbles`
-- host_op, host_frame, bubbles
-- idle_ns  sum of the durations of the gaps, ns
-- longest_ns
CREATE MACRO bubbles_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    SELECT
        gap.rank,
        gap.device,
        gap.cause,
        gap.host_op,
        gap.host_frame,
        count(*) AS bubbles,
        sum(gap.dur_ns)::BIGINT AS idle_ns,
        max(gap.dur_ns) AS longest_ns
    FROM measured_bubbles AS gap
    WHERE gap.run_id = run AND in_steps(gap.step, from_step, to_step)
    GROUP BY gap.rank, gap.device, gap.cause, gap.host_op, gap.host_frame;
