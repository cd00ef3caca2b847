-- Events of a stretch of time, with both ends of each arrow from a launch to what it launched:
-- `events_between(run, of_rank, since_ns, until_ns, shortest_ns)`, in Unix time. An event that
-- began before the stretch and ends in it is there. So is a device activity after it whose launch
-- is in it. The launch of a device activity, and the operators around that, are there even if they
-- ended before the stretch or are shorter than `shortest_ns`.
-- One row: a row of `events`.
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
