-- Which kernels an operator launches in a row, and how often: `kernel_sequences(by_step)`. Short
-- ones that come often are candidates for fusion.
-- One row: a sequence of kernels under an operator, in the whole recording or in a step.
--
-- run_id     the run
-- rank       rank of the process
-- device     number of the device
-- step       step that launched them (`steps.step`); null outside steps, and without `by_step`
-- level      op (outermost operator around the launches) or leaf (innermost), as in `ranking`
-- name       name of the operator
-- kernels    names of its kernels, copies and sets, in the order in which they were launched
-- length     number of these
-- calls      operators with exactly this sequence
-- device_ns  time of the kernels of all of these, ns
-- op_ids     these operators (`ops.event_id`), in their order in the trace
CREATE MACRO kernel_sequences(by_step := FALSE) AS TABLE
    WITH sequences AS (
        SELECT
            run_id,
            rank,
            device,
            if(by_step, step, NULL) AS of_step,
            level,
            name,
            owner_id,
            list(kernel ORDER BY launch_ns, start_ns, event_id) AS in_order,
            sum(dur_ns) AS device_ns
        FROM ranked_kernels
        WHERE owner_id IS NOT NULL
        GROUP BY run_id, rank, device, of_step, level, name, owner_id
    )

    SELECT
        run_id,
        rank,
        device,
        of_step AS step,
        level,
        name,
        in_order AS kernels,
        len(in_order) AS length,
        count(*) AS calls,
        sum(device_ns)::BIGINT AS device_ns,
        list(owner_id ORDER BY owner_id) AS op_ids
    FROM sequences
    GROUP BY run_id, rank, device, of_step, level, name, in_order;
