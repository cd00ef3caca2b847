-- The longest launch queue of each stream in equal intervals: `queue_length_over_time(run, of_rank,
-- of_device, since_ns, until_ns, bins)`, with times in Unix ns.
-- One row: an interval in which work waited on a stream.
--
-- bin, start_ns, end_ns, stream
-- length  greatest length of the stream's queue in the interval (`queue_length.length`)
CREATE MACRO queue_length_over_time(run, of_rank, of_device, since_ns, until_ns, bins) AS TABLE
    WITH queues AS (
        SELECT stream, length, time_ns AS start_ns, time_ns + coalesce(dur_ns, 1) AS end_ns
        FROM queue_length
        WHERE
            run_id = run
            AND device_id = device_id_of(of_rank, of_device)
            AND length > 0
    )

    SELECT bin, start_ns, end_ns, stream, max(length) AS length
    FROM binned('queues', since_ns, until_ns, bins)
    GROUP BY ALL;
