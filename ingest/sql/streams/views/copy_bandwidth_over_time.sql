-- Bandwidth of copies and memsets in equal intervals: `copy_bandwidth_over_time(run, of_rank,
-- of_device, since_ns, until_ns, bins)`, with times in Unix ns.
-- One row: a kind of copy in an interval in which it moved data.
--
-- bin, start_ns, end_ns, copy
-- gb_per_s  bytes moved in the interval divided by its length, in 10⁹ bytes per second
CREATE MACRO copy_bandwidth_over_time(run, of_rank, of_device, since_ns, until_ns, bins) AS TABLE
    WITH copies_of_device AS (
        SELECT copy, gb_per_s, time_ns AS start_ns, time_ns + dur_ns AS end_ns
        FROM copy_bandwidth
        WHERE
            run_id = run
            AND device_id = device_id_of(of_rank, of_device)
            AND copies > 0
    )

    SELECT
        bin,
        start_ns,
        end_ns,
        copy,
        sum(gb_per_s * part_ns) / any_value(end_ns - start_ns) AS gb_per_s
    FROM binned('copies_of_device', since_ns, until_ns, bins)
    GROUP BY ALL;
