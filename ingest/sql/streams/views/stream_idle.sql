-- Why each stream idled between its activities: `stream_idle(by_step, kernel_wait_ns)`.
-- One row: a cause of idle time on a stream, in the whole recording or in a step.
--
-- `host_wait`: the next activity was launched after the stream fell idle. `kernel_wait`: it was
-- launched before, and the gap is shorter than `kernel_wait_ns`: what it takes to start a kernel.
-- `other`: it was launched before, and the gap is longer: it waited for another stream, for
-- example. `unknown`: its launch is unknown.
--
-- run_id     the run
-- rank       rank of the process
-- device     number of the device
-- stream     stream on the device
-- step       step of the activities that ended the gaps (`steps.step`); null outside of steps,
--            and without `by_step`
-- cause      host_wait, kernel_wait, other or unknown
-- gaps       number of gaps
-- idle_ns    sum of their lengths, ns
-- percent    of the stream's idle time, 0 to 100
-- min_ns     the shortest, ns
-- median_ns  the median, ns
-- mean_ns    the mean, ns
-- max_ns     the longest, ns
-- stddev_ns  standard deviation of the lengths, ns; null of one gap
CREATE MACRO stream_idle(by_step := FALSE, kernel_wait_ns := 30000) AS TABLE
    WITH causes AS (
        SELECT
            *,
            if(by_step, step, NULL) AS of_step,
            CASE
                WHEN launch_delay_ns IS NULL THEN 'unknown'
                WHEN launch_delay_ns > 0 THEN 'host_wait'
                WHEN dur_ns < kernel_wait_ns THEN 'kernel_wait'
                ELSE 'other'
            END AS cause
        FROM stream_gaps
    )

    SELECT
        run_id,
        rank,
        device,
        stream,
        of_step AS step,
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
    GROUP BY run_id, rank, device, stream, of_step, cause
    WINDOW in_stream AS (PARTITION BY run_id, rank, device, stream, of_step);
