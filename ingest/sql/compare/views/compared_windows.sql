-- Part of `compared_activities` and `compared_host_work`: when the work of two runs counts:
-- `compared_windows(base, other, rank := NULL, nth_step := NULL)`.
-- One row: an input file of a side of `compared_runs`.
--
-- side       base or other
-- run_id     the run
-- source_id  the input file
-- device     number of the device; null where the host is measured
-- measure    device or host, as in `compared_runs`
-- step       the step whose work counts (`steps.step`); null for a whole recording
-- start_ns   Unix time from which work counts, ns
-- end_ns     Unix time up to which it counts, ns
CREATE MACRO compared_windows(base, other, rank := NULL, nth_step := NULL) AS TABLE
    SELECT
        sides.side,
        sides.run_id,
        measured.source_id,
        measured.device,
        sides.measure,
        sides.step,
        -- A run whose device is not looked at counts on the host from its first step to its last.
        if(sides.measure = measured.measure, measured.start_ns, measured.wall_start_ns)
            AS start_ns,
        if(sides.measure = measured.measure, measured.end_ns, measured.wall_end_ns) AS end_ns
    FROM compared_runs(base, other, rank := rank, nth_step := nth_step) AS sides
    INNER JOIN measured_windows AS measured
        ON
            sides.run_id = measured.run_id
            AND sides.rank = measured.rank
            AND sides.device IS NOT DISTINCT FROM measured.device
            AND (sides.step IS NULL OR sides.source_id = measured.source_id)
    WHERE measured.run_id IN (base, other);
