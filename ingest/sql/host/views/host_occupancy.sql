-- What the host of a rank did in each of a number of equal stretches of time, with its idle time,
-- for timelines that zoom: `host_occupancy(run, of_rank, since_ns, until_ns,
-- bins)`, in Unix time. The parts of a stretch do not overlap: in the measured time, they fill it.
-- One row: a part of one stretch.
--
-- bin       number of the stretch, from 0
-- start_ns  Unix time at which the stretch begins, ns
-- end_ns    at which it ends, ns
-- part      as in `host_stretches_between`
-- part_ns   time in it, ns
-- percent   of the stretch, 0 to 100
CREATE MACRO host_occupancy(run, of_rank, since_ns, until_ns, bins) AS TABLE
    WITH
    cut AS (
        SELECT
            found.part,
            found.start_ns - since_ns::BIGINT AS start_ns,
            found.end_ns - since_ns::BIGINT AS end_ns,
            greatest(1, ceil((until_ns::BIGINT - since_ns::BIGINT) / bins))::BIGINT AS bin_ns
        FROM host_stretches_between(run, of_rank, since_ns, until_ns) AS found
    ),

    placed AS (
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
    FROM placed
    GROUP BY bin, part;
