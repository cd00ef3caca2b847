-- What a device did over time, in equal intervals, for timelines that zoom: `device_occupancy(run,
-- of_rank, of_device, since_ns, until_ns, bins)`, with times in Unix ns. The parts of an interval
-- do not overlap. Within the recording, they add up to the interval.
-- One row: a part of one interval.
--
-- bin, start_ns, end_ns
-- part     compute; communication, without concurrent compute; copy, without concurrent compute or
--          communication; or the cause of a gap, as in `bubbles`
-- part_ns  time of the part in the interval, ns
-- percent  share of the interval, 0 to 100
CREATE MACRO device_occupancy(run, of_rank, of_device, since_ns, until_ns, bins) AS TABLE
    WITH
    activities AS (
        SELECT
            run_id,
            device AS lane,
            start_ns,
            start_ns + dur_ns AS end_ns,
            (class = 'compute')::INTEGER AS computing,
            (class = 'communication')::INTEGER AS communicating,
            1 AS active
        FROM kernels
        WHERE
            run_id = run
            AND device_id = device_id_of(of_rank, of_device)
            AND start_ns < until_ns
            AND start_ns + dur_ns > since_ns
    ),

    intervals AS (
        SELECT
            start_ns,
            end_ns,
            CASE
                WHEN computing > 0 THEN 'compute'
                WHEN communicating > 0 THEN 'communication'
                ELSE 'copy'
            END AS part
        FROM swept('activities')
        WHERE active > 0
        UNION ALL
        SELECT start_ns, start_ns + dur_ns AS end_ns, cause AS part
        FROM bubbles
        WHERE run_id = run AND device_id = device_id_of(of_rank, of_device)
    ),

    shown AS (
        SELECT start_ns, least(end_ns, until_ns::BIGINT) AS end_ns, part FROM intervals
    )

    SELECT
        bin,
        start_ns,
        end_ns,
        part,
        sum(part_ns)::BIGINT AS part_ns,
        100.0 * sum(part_ns) / any_value(end_ns - start_ns) AS percent
    FROM binned('shown', since_ns, until_ns, bins)
    GROUP BY ALL;
