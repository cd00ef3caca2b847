-- The sequence of kernels that each operator launches, and how often it occurs:
-- `kernel_sequences(run, from_step, to_step)`. Frequent sequences of short kernels are candidates
-- for fusion. Without a run it is about all runs, without steps about whole recordings. In steps,
-- the activities that these launched count.
-- One row: a sequence of kernels under an operator, in these steps.
--
-- run_id, rank, device
-- level      op (outermost operator around the launches) or leaf (innermost), as in `ranking`
-- name       name of the operator
-- sequence   names of the operator's kernels, copies and memsets, in launch order
-- length     number of names in `sequence`
-- calls      number of calls of the operator with exactly this sequence
-- device_ns  device time of the calls, ns
-- op_ids     the calls of the operator with this sequence (`ops.event_id`), in trace order
CREATE MACRO kernel_sequences(run := NULL, from_step := NULL, to_step := NULL) AS TABLE
    WITH sequences AS (
        SELECT
            run_id,
            rank,
            device,
            level,
            name,
            owner_id,
            list(kernel ORDER BY launch_ns, start_ns, event_id) AS ordered_names,
            sum(dur_ns) AS device_ns
        FROM ranked_kernels
        WHERE owner_id IS NOT NULL AND is_asked(run_id, step, run, from_step, to_step)
        GROUP BY ALL
    )

    SELECT
        run_id,
        rank,
        device,
        level,
        name,
        ordered_names AS sequence,
        len(ordered_names) AS length,
        count(*) AS calls,
        sum(device_ns)::BIGINT AS device_ns,
        list(owner_id ORDER BY owner_id) AS op_ids
    FROM sequences
    GROUP BY ALL;
