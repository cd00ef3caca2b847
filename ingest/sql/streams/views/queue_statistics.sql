-- How full the queue of each stream was: `queue_statistics(full_length, by_step)`. CUDA keeps up to
-- 1,024 launches of a stream waiting; then a launch blocks the host.
-- One row: a stream, in the whole recording or in a step.
--
-- run_id           the run
-- rank             rank of the process
-- device           number of the device
-- stream           stream on the device
-- step             step in which the host was (`steps.step`); always null without `by_step`
-- launches         number of launches
-- mean_length      mean length of the queue over time; null when no time passed
-- max_length       the greatest length
-- dur_ns           time that the figures are about, ns
-- waiting_ns       of that, with something in the queue, ns
-- blocked_ns       of that, with at least `full_length` in the queue, ns
-- blocked_percent  of the time, 0 to 100; null when no time passed
CREATE MACRO queue_statistics(full_length := 1024, by_step := FALSE) AS TABLE
    WITH
    spans AS (
        SELECT run_id, rank, step, start_ns, start_ns + dur_ns AS end_ns
        FROM steps
        WHERE by_step AND step IS NOT NULL
        UNION ALL
        SELECT DISTINCT
            run_id,
            rank,
            NULL AS step,
            -9223372036854775808 AS start_ns,
            9223372036854775807 AS end_ns
        FROM sources
        WHERE NOT by_step
    ),

    cut AS (
        SELECT
            queue_length.run_id,
            queue_length.rank,
            queue_length.device,
            queue_length.stream,
            spans.step,
            queue_length.length,
            if(queue_length.time_ns >= spans.start_ns, queue_length.launches, 0) AS launches,
            least(queue_length.time_ns + coalesce(queue_length.dur_ns, 0), spans.end_ns)
            - greatest(queue_length.time_ns, spans.start_ns) AS ns
        FROM queue_length
        INNER JOIN spans
            ON
                queue_length.run_id = spans.run_id
                AND queue_length.rank = spans.rank
                AND queue_length.time_ns < spans.end_ns
                AND (
                    queue_length.time_ns >= spans.start_ns
                    OR queue_length.time_ns + queue_length.dur_ns > spans.start_ns
                )
    )

    SELECT
        run_id,
        rank,
        device,
        stream,
        step,
        sum(launches)::BIGINT AS launches,
        sum(length * ns) / nullif(sum(ns), 0) AS mean_length,
        max(length) AS max_length,
        sum(ns)::BIGINT AS dur_ns,
        coalesce(sum(ns) FILTER (WHERE length > 0), 0)::BIGINT AS waiting_ns,
        coalesce(sum(ns) FILTER (WHERE length >= full_length), 0)::BIGINT AS blocked_ns,
        100.0 * blocked_ns / nullif(sum(ns), 0) AS blocked_percent
    FROM cut
    GROUP BY run_id, rank, device, stream, step;
