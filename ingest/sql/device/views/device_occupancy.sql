-- What a device did over time, in equal intervals, for timelines that zoom: `device_occupancy(run,
-- of_rank, of_device, since_ns, until_ns, bins)`, with times in Unix ns. The parts of an interval
-- do not overlap. Within the recording, they add up to the interval.
-- One row: a part of one interval.
--
-- bin       number of the interval, from 0
-- start_ns  Unix time at the start of the interval, ns
-- end_ns    Unix time at the end of the interval, ns
-- part      compute; communication, without concurrent compute; copy, without concurrent compute or
--           communication; or the cause of a gap, as in `bubbles`
-- part_ns   time of the part in the interval, ns
-- percent   share of the interval, 0 to 100
CREATE MACRO device_occupancy(run, of_rank, of_device, since_ns, until_ns, bins) AS TABLE
    WITH
    frame AS (
        SELECT
            since_ns::BIGINT AS begin_ns,
            greatest(1, ceil((until_ns::BIGINT - since_ns::BIGINT) / bins))::BIGINT AS bin_ns
    ),

    activities AS (
        SELECT class, start_ns, start_ns + dur_ns AS end_ns
        FROM kernels, frame
        WHERE
            run_id = run
            AND rank = of_rank
            AND device IS NOT DISTINCT FROM of_device
            AND start_ns < begin_ns + bin_ns * bins
            AND start_ns + dur_ns > begin_ns
    ),

    edges AS (
        SELECT start_ns AS edge_ns, class, 1 AS change FROM activities
        UNION ALL
        SELECT end_ns AS edge_ns, class, -1 AS change FROM activities
    ),

    -- Number of activities of each class that run after each edge.
    running AS (
        SELECT
            edge_ns,
            lead(edge_ns) OVER (ORDER BY edge_ns) AS next_ns,
            sum(sum(change) FILTER (WHERE class = 'compute')) OVER up_to AS computing,
            sum(sum(change) FILTER (WHERE class = 'communication')) OVER up_to AS communicating,
            sum(sum(change)) OVER up_to AS active
        FROM edges
        GROUP BY edge_ns
        WINDOW up_to AS (ORDER BY edge_ns)
    ),

    intervals AS (
        SELECT
            edge_ns AS start_ns,
            next_ns AS end_ns,
            CASE
                WHEN computing > 0 THEN 'compute'
                WHEN communicating > 0 THEN 'communication'
                ELSE 'copy'
            END AS part
        FROM running
        WHERE active > 0
        UNION ALL
        SELECT start_ns, start_ns + dur_ns AS end_ns, cause AS part
        FROM bubbles
        WHERE run_id = run AND rank = of_rank AND device IS NOT DISTINCT FROM of_device
    ),

    cut AS (
        SELECT
            intervals.part,
            greatest(intervals.start_ns, frame.begin_ns) - frame.begin_ns AS start_ns,
            least(intervals.end_ns, until_ns::BIGINT) - frame.begin_ns AS end_ns,
            frame.bin_ns
        FROM intervals, frame
        WHERE
            intervals.start_ns < until_ns
            AND intervals.end_ns > frame.begin_ns
    ),

    binned AS (
        SELECT *, unnest(range(start_ns // bin_ns, (end_ns - 1) // bin_ns + 1)) AS bin
        FROM cut
        WHERE end_ns > start_ns
    )

    SELECT
        bin,
        since_ns::BIGINT + bin * any_value(bin_ns) AS start_ns,
        since_ns::BIGINT + (bin + 1) * any_value(bin_ns) AS end_ns,
        part,
        sum(least(end_ns, (bin + 1) * bin_ns) - greatest(start_ns, bin * bin_ns))::BIGINT
            AS part_ns,
        100.0 * part_ns / any_value(bin_ns) AS percent
    FROM binned
    GROUP BY bin, part;
