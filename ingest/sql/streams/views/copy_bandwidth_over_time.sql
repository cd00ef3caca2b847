-- Bandwidth of copies and memsets in equal intervals: `copy_bandwidth_over_time(run, of_rank,
-- of_device, since_ns, until_ns, bins)`, with times in Unix ns.
-- One row: a kind of copy in an interval in which it moved data.
--
-- bin       number of the interval, from 0
-- start_ns  Unix time at the start of the interval, ns
-- end_ns    Unix time at the end of the interval, ns
-- copy      kind of copy, for example `Memcpy HtoD` or `Memset`
-- gb_per_s  bytes moved in the interval divided by its length, in 10⁹ bytes per second
CREATE MACRO copy_bandwidth_over_time(run, of_rank, of_device, since_ns, until_ns, bins) AS TABLE
    WITH
    frame AS (
        SELECT greatest(1, ceil((until_ns::BIGINT - since_ns::BIGINT) / bins))::BIGINT AS bin_ns
    ),

    cut AS (
        SELECT
            copy,
            gb_per_s,
            bin_ns,
            greatest(0, time_ns - since_ns::BIGINT) AS from_ns,
            least(time_ns + dur_ns - since_ns::BIGINT, bin_ns * bins) AS to_ns
        FROM copy_bandwidth, frame
        WHERE
            run_id = run
            AND rank = of_rank
            AND device IS NOT DISTINCT FROM of_device
            AND copies > 0
            AND time_ns < since_ns::BIGINT + bin_ns * bins
            AND time_ns + dur_ns > since_ns::BIGINT
    ),

    binned AS (
        SELECT *, unnest(range(from_ns // bin_ns, (to_ns - 1) // bin_ns + 1)) AS bin
        FROM cut
    )

    SELECT
        bin,
        since_ns::BIGINT + bin * any_value(bin_ns) AS start_ns,
        since_ns::BIGINT + (bin + 1) * any_value(bin_ns) AS end_ns,
        copy,
        sum(gb_per_s * (least(to_ns, (bin + 1) * bin_ns) - greatest(from_ns, bin * bin_ns)))
        / any_value(bin_ns) AS gb_per_s
    FROM binned
    GROUP BY bin, copy;
