-- The longest launch queue of each stream in equal intervals: `queue_length_over_time(run, of_rank,
-- of_device, since_ns, until_ns, bins)`, with times in Unix ns.
-- One row: an interval in which work waited on a stream.
--
-- bin       number of the interval, from 0
-- start_ns  Unix time at the start of the interval, ns
-- end_ns    Unix time at the end of the interval, ns
-- stream    stream on the device
-- length    greatest length of the stream's queue in the interval (`queue_length.length`)
CREATE MACRO queue_length_over_time(run, of_rank, of_device, since_ns, until_ns, bins) AS TABLE
    WITH
    frame AS (
        SELECT greatest(1, ceil((until_ns::BIGINT - since_ns::BIGINT) / bins))::BIGINT AS bin_ns
    ),

    cut AS (
        SELECT
            stream,
            length,
            bin_ns,
            greatest(0, time_ns - since_ns::BIGINT) AS from_ns,
            least(time_ns + coalesce(dur_ns, 1) - since_ns::BIGINT, bin_ns * bins) AS to_ns
        FROM queue_length, frame
        WHERE
            run_id = run
            AND rank = of_rank
            AND device IS NOT DISTINCT FROM of_device
            AND length > 0
            AND time_ns < since_ns::BIGINT + bin_ns * bins
            AND time_ns + coalesce(dur_ns, 1) > since_ns::BIGINT
    ),

    binned AS (
        SELECT *, unnest(range(from_ns // bin_ns, (to_ns - 1) // bin_ns + 1)) AS bin
        FROM cut
    )

    SELECT
        bin,
        since_ns::BIGINT + bin * any_value(bin_ns) AS start_ns,
        since_ns::BIGINT + (bin + 1) * any_value(bin_ns) AS end_ns,
        stream,
        max(length) AS length
    FROM binned
    GROUP BY bin, stream;
