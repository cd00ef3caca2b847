-- Events that overlap a stretch of time, with both ends of the arrows from launches to kernels:
-- `events_between(run, of_rank, since_ns, until_ns, shortest_ns)`, in Unix time. It adds the launch
-- of each device activity in the stretch, the operators around that launch, and each activity
-- launched in the stretch, even if they lie outside it or are shorter than `shortest_ns`.
-- One row: an event, as in `events`.
--
-- run_id             the run
-- source_id          the input file
-- rank               rank of the process
-- event_id           the event (`events.event_id`)
-- category           what it is, in today's names (cpu_op, kernel, cuda_runtime, …)
-- recorded_category  the category as the file has it
-- name               name as recorded
-- pid                process, or the device
-- tid                thread, or the stream
-- start_ns           Unix time, ns
-- dur_ns             length, ns
-- depth              host events around it on its thread; null on a device
-- parent_id          the innermost of those (`events.event_id`)
-- self_ns            time in which it was the innermost event of its thread, ns; null on a device
-- step               innermost step around its start (`steps.step`). A device activity has the step
--                    of its launch, a `gpu_user_annotation` that of its annotation on the host
-- correlation        number shared by a launch and what it launched
-- external_id        number shared by an operator and what it launched
-- args               its arguments (JSON); under `event`, what else it carried without a column
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
