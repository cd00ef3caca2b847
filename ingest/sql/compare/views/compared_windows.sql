-- When the work of two runs counts: `compared_windows(base, other, rank := NULL)`.
-- One row: an input file of a side of `compared_runs`.
--
-- side       base or other
-- run_id     the run
-- source_id  the input file
-- device     number of the device; null where the host is measured
-- measure    device or host, as in `compared_runs`
-- steps      steps over which the figures are divided
-- from_ns    Unix time from which work counts, ns
-- to_ns      Unix time up to which it counts, ns
CREATE MACRO compared_windows(base, other, rank := NULL) AS TABLE
    -- A run whose device is not looked at counts on the host from its first step to its last.
    SELECT
        sides.side,
        sides.run_id,
        measured.source_id,
        measured.device,
        sides.measure,
        sides.steps,
        if(sides.measure = measured.measure, measured.from_ns, measured.wall_from_ns) AS from_ns,
        if(sides.measure = measured.measure, measured.to_ns, measured.wall_to_ns) AS to_ns
    FROM compared_runs(base, other, rank := rank) AS sides
    INNER JOIN measured_windows AS measured
        ON
            sides.run_id = measured.run_id
            AND sides.rank = measured.rank
            AND sides.device IS NOT DISTINCT FROM measured.device
    WHERE measured.run_id IN (base, other);
