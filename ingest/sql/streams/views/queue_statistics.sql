-- Statistics of the launch queue of each stream: `queue_statistics(run, from_step, to_step,
-- full_length)`. CUDA queues at most 1,024 launches per stream; then the next launch blocks the
-- host. Without a run it is about all runs, without steps about whole recordings. In steps, the
-- time counts in which the host was in them.
-- One row: a stream, in these steps.
--
-- run_id, rank, device, stream
-- launches      number of launches
-- mean_length   mean length of the queue over time; null if no time passed
-- max_length    greatest length of the queue
-- dur_ns        time that the statistics cover, ns
-- waiting_ns    time with at least one launch in the queue, ns
-- full_ns       time with at least `full_length` launches in the queue, ns
-- full_percent  `full_ns` as a share of `dur_ns`, 0 to 100; null if no time passed
CREATE MACRO queue_statistics(
    run := NULL, from_step := NULL, to_step := NULL, full_length := 1024
) AS TABLE
    WITH cut AS (
        SELECT * EXCLUDE (dur_ns), coalesce(dur_ns, 0) AS ns
        FROM queue_length
        WHERE is_of_run(run_id, run) AND is_whole(from_step, to_step)
        UNION ALL BY NAME
        SELECT
            queue.* EXCLUDE (dur_ns) REPLACE (
                if(queue.time_ns >= steps.start_ns, queue.launches, 0) AS launches
            ),
            least(queue.time_ns + coalesce(queue.dur_ns, 0), steps.start_ns + steps.dur_ns)
            - greatest(queue.time_ns, steps.start_ns) AS ns
        FROM queue_length AS queue
        INNER JOIN steps
            ON
                queue.run_id = steps.run_id
                AND queue.rank = steps.rank
                AND queue.time_ns < steps.start_ns + steps.dur_ns
                AND (
                    queue.time_ns >= steps.start_ns
                    OR queue.time_ns + queue.dur_ns > steps.start_ns
                )
        WHERE
            NOT is_whole(from_step, to_step)
            AND is_asked(steps.run_id, steps.step, run, from_step, to_step)
            AND is_of_run(queue.run_id, run)
    )

    SELECT
        run_id,
        rank,
        device,
        stream,
        sum(launches)::BIGINT AS launches,
        sum(length * ns) / nullif(sum(ns), 0) AS mean_length,
        max(length) AS max_length,
        sum(ns)::BIGINT AS dur_ns,
        coalesce(sum(ns) FILTER (WHERE length > 0), 0)::BIGINT AS waiting_ns,
        coalesce(sum(ns) FILTER (WHERE length >= full_length), 0)::BIGINT AS full_ns,
        100.0 * full_ns / nullif(sum(ns), 0) AS full_percent
    FROM cut
    GROUP BY run_id, rank, device, stream;
