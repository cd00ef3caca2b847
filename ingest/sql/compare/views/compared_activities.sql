-- The device activities of two runs that are compared:
-- `compared_activities(base, other, rank := NULL)`.
-- One row: an activity within the steps of a side; none where the host is compared.
--
-- side        base or other
-- run_id      the run
-- event_id    the activity's row in `kernels`
-- name        kernel, copy or set
-- is_kernel   whether it is a kernel, and no copy or set
-- class       compute, communication or copy
-- start_ns    Unix time at which it began, ns
-- ns          its length within the steps, ns
-- launch_id   call that launched it
-- top_op_id   outermost operator around that
-- in_graph    whether a graph launch outside any operator owns it
CREATE MACRO compared_activities(base, other, rank := NULL) AS TABLE
    SELECT
        measured.side,
        measured.run_id,
        kernel.event_id,
        kernel.name,
        kernel.kind = 'kernel' AS is_kernel,
        kernel.class,
        kernel.start_ns,
        least(kernel.start_ns + kernel.dur_ns, measured.to_ns)
        - greatest(kernel.start_ns, measured.from_ns) AS ns,
        kernel.launch_id,
        kernel.top_op_id,
        kernel.top_op_id IS NULL AND coalesce(kernel.graph_launch, FALSE) AS in_graph
    FROM compared_windows(base, other, rank := rank) AS measured
    INNER JOIN kernels AS kernel
        ON
            measured.run_id = kernel.run_id
            AND measured.source_id = kernel.source_id
            AND measured.device IS NOT DISTINCT FROM kernel.device
            AND measured.to_ns >= kernel.start_ns
            AND measured.from_ns <= kernel.start_ns + kernel.dur_ns
    -- What only touches the window is not in it.
    WHERE
        kernel.run_id IN (base, other)
        AND measured.measure = 'device'
        AND (
            kernel.dur_ns = 0
            OR least(kernel.start_ns + kernel.dur_ns, measured.to_ns)
            > greatest(kernel.start_ns, measured.from_ns)
        );
