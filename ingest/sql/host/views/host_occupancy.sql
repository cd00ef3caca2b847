-- What the host of a rank did over time, in equal intervals, with its idle time, for timelines that
-- zoom: `host_occupancy(run, of_rank, since_ns, until_ns, bins)`, with times in Unix ns. The parts
-- of an interval do not overlap. Inside the measured time, they add up to the interval.
-- One row: a part of one interval.
--
-- bin       number of the interval, from 0
-- start_ns  Unix time at the start of the interval, ns
-- end_ns    Unix time at the end of the interval, ns
-- part      part of the time, as in `host_stretches_between`
-- part_ns   time of the part in the interval, ns
-- percent   share of the interval, 0 to 100
CREATE MACRO host_occupancy(run, of_rank, since_ns, until_ns, bins) AS TABLE
    WITH
    cut AS (
        SELECT
            spans.part,
            spans.start_ns - since_ns::BIGINT AS start_ns,
            spans.end_ns - since_ns::BIGINT AS end_ns,
            greatest(1, ceil((until_ns::BIGINT - since_ns::BIGINT) / bins))::BIGINT AS bin_ns
        FROM host_stretches_between(run, of_rank, since_ns, until_ns) AS spans
    ),

    binned AS (
        SELECT *, unnest(range(start_ns // bin_ns, (end_ns - 1) // bin_ns + 1)) AS bin
        FROM cut
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
