-- What a device did in each of a number of equal stretches of time, for timelines that zoom:
-- `device_occupancy(run, of_rank, of_device, since_ns, until_ns, bins)`, in Unix
-- time. The parts of a stretch do not overlap: from the device's first activity to its last, they
-- fill it.
-- One row: a part of one stretch.
--
-- bin       number of the stretch, from 0
-- start_ns  Unix time at which the stretch begins, ns
-- end_ns    at which it ends, ns
-- part      compute; communication, while nothing computed; copy, while nothing computed or
--           communicated; else the cause of the gap, as in `bubbles`
-- part_ns   time in it, ns
-- percent   of the stretch, 0 to 100
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

    -- How many activities of each class run after each edge.
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

    stretches AS (
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
            stretches.part,
            greatest(stretches.start_ns, frame.begin_ns) - frame.begin_ns AS start_ns,
            least(stretches.end_ns, frame.begin_ns + frame.bin_ns * bins) - frame.begin_ns
                AS end_ns,
            frame.bin_ns
        FROM stretches, frame
        WHERE
            stretches.start_ns < frame.begin_ns + frame.bin_ns * bins
            AND stretches.end_ns > frame.begin_ns
    ),

    placed AS (
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
    FROM placed
    GROUP BY bin, part;
