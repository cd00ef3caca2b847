-- Part of `compared_activities` and `compared_host_work`: the time in which work of two runs counts
-- in a comparison: `compared_windows(base, other, rank := NULL, nth_step := NULL)`.
-- One row: an input file of a side of `compared_runs`.
--
-- side, run_id, source_id, device_id
-- measure   device or host, as in `compared_runs`
-- step      the compared step (`steps.step`); null for a whole recording
-- start_ns  Unix time from which work counts, ns
-- end_ns    Unix time until which work counts, ns
CREATE MACRO compared_windows(base, other, rank := NULL, nth_step := NULL) AS TABLE
    SELECT
        sides.side,
        sides.run_id,
        measured.source_id,
        measured.device_id,
        sides.measure,
        sides.step,
        measured.start_ns,
        measured.end_ns
    FROM compared_runs(base, other, rank := rank, nth_step := nth_step) AS sides
    INNER JOIN measured_windows AS measured
        ON
            sides.run_id = measured.run_id
            AND sides.device_id = measured.device_id
            AND (sides.step IS NULL OR sides.source_id = measured.source_id)
    WHERE measured.run_id IN (base, other);
