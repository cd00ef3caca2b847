-- What the host of a rank did over time, in equal intervals, with its idle time, for timelines that
-- zoom: `host_occupancy(run, of_rank, since_ns, until_ns, bins)`, with times in Unix ns. The parts
-- of an interval do not overlap. Inside the measured time, they add up to the interval.
-- One row: a part of one interval.
--
-- bin, start_ns, end_ns
-- part     part of the time, as in `host_stretches_between`
-- part_ns  time of the part in the interval, ns
-- percent  share of the interval, 0 to 100
CREATE MACRO host_occupancy(run, of_rank, since_ns, until_ns, bins) AS TABLE
    WITH stretches AS (
        SELECT part, start_ns, end_ns FROM host_stretches_between(run, of_rank, since_ns, until_ns)
    )

    SELECT
        bin,
        start_ns,
        end_ns,
        part,
        sum(part_ns)::BIGINT AS part_ns,
        100.0 * sum(part_ns) / any_value(end_ns - start_ns) AS percent
    FROM binned('stretches', since_ns, until_ns, bins)
    GROUP BY ALL;
