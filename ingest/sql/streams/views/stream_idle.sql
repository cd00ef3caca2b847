-- Idle time of each stream by cause: `stream_idle(run, from_step, to_step, kernel_wait_ns)`.
-- Without a run it is about all runs, without steps about whole recordings. In steps, gaps before
-- the activities that these launched count.
-- One row: a cause of idle time on a stream, in these steps.
--
-- `host_wait`: the next activity was launched after the stream became idle. `kernel_wait`: it was
-- launched before, and the gap is shorter than `kernel_wait_ns`, the time that it takes to start a
-- kernel. `other`: it was launched before, and the gap is longer, for example because it waited for
-- another stream. `unknown`: the launch of the next activity is unknown.
--
-- run_id, rank, device, stream
-- cause      host_wait, kernel_wait, other or unknown
-- gaps       number of gaps
-- idle_ns    sum of the durations of the gaps, ns
-- percent    share of the stream's idle time, 0 to 100
-- min_ns     shortest gap, ns
-- median_ns  median gap, ns
-- mean_ns    mean gap, ns
-- max_ns     longest gap, ns
-- stddev_ns  standard deviation of the durations, ns; null for a single gap
CREATE MACRO stream_idle(
    run := NULL, from_step := NULL, to_step := NULL, kernel_wait_ns := 30000
) AS TABLE
    WITH causes AS (
        SELECT
            *,
            CASE
                WHEN launch_delay_ns IS NULL THEN 'unknown'
                WHEN launch_delay_ns > 0 THEN 'host_wait'
                WHEN dur_ns < kernel_wait_ns THEN 'kernel_wait'
                ELSE 'other'
            END AS cause
        FROM stream_gaps
        WHERE is_asked(run_id, step, run, from_step, to_step)
    )

    SELECT
        run_id,
        rank,
        device,
        stream,
        cause,
        count(*) AS gaps,
        sum(dur_ns)::BIGINT AS idle_ns,
        100.0 * sum(dur_ns) / sum(sum(dur_ns)) OVER in_stream AS percent,
        min(dur_ns) AS min_ns,
        median(dur_ns) AS median_ns,
        avg(dur_ns) AS mean_ns,
        max(dur_ns) AS max_ns,
        stddev_samp(dur_ns) AS stddev_ns
    FROM causes
    GROUP BY run_id, rank, device, stream, cause
    WINDOW in_stream AS (PARTITION BY run_id, rank, device, stream);
