-- Events that overlap a range of time, with both ends of each arrow from a launch to a device
-- activity: `events_between(run, of_rank, since_ns, until_ns, shortest_ns)`, with times in Unix ns.
-- Events shorter than `shortest_ns` are left out. For each device activity that overlaps the range
-- or was launched in it, the activity, its launch and the operators around the launch are included,
-- even if they are outside the range. These launches and operators may be shorter than
-- `shortest_ns`.
-- One row: an event, as in `events`.
--
-- run_id, source_id, rank
-- event_id   the event (`events.event_id`)
-- category   kind of event, under the current name (cpu_op, kernel, cuda_runtime, …)
-- recorded_category
-- name       name as recorded
-- pid        process; for a device event, the device
-- tid        thread; for a device event, the stream
-- start_ns   start, Unix time, ns
-- dur_ns
-- depth      number of host events around it on its thread; null on a device
-- parent_id  innermost host event around it (`events.event_id`)
-- self_ns    time in which it was the innermost event of its thread, ns; null on a device
-- step       innermost step that contains its start (`steps.step`). For a device activity, the step
--            of its launch; for a `gpu_user_annotation`, the step of its annotation on the host
-- correlation, external_id
-- args       arguments of the event (JSON); `event` holds other recorded fields that have no column
CREATE MACRO events_between(run, of_rank, since_ns, until_ns, shortest_ns) AS TABLE
    WITH
    activities AS (
        SELECT event_id, launch_id, op_id, top_op_id
        FROM kernels
        WHERE
            run_id = run
            AND rank = of_rank
            AND dur_ns >= shortest_ns
            AND (
                (start_ns < until_ns AND start_ns + dur_ns > since_ns)
                OR (launch_ns < until_ns AND launch_ns + launch_dur_ns > since_ns)
            )
    ),

    linked AS (
        SELECT unnest([event_id, launch_id, op_id, top_op_id]) AS event_id FROM activities
    )

    SELECT *
    FROM events
    WHERE
        run_id = run
        AND rank = of_rank
        AND (
            (
                dur_ns >= shortest_ns
                AND start_ns < until_ns
                AND (start_ns + dur_ns > since_ns OR start_ns >= since_ns)
            )
            OR event_id IN (SELECT event_id FROM linked WHERE event_id IS NOT NULL)
        );
