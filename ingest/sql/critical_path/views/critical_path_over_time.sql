-- What a step waited for over time, in a number of equal time ranges: `critical_path_over_time(run,
-- of_rank, of_step, of_source, bins)`. The kinds add up to the length of each range.
-- One row: a kind of interval in a time range.
--
-- bin       number of the time range, from 0
-- start_ns  Unix time at which the time range begins, ns
-- end_ns    Unix time at which the time range ends, ns
-- kind      kind of interval, as in `critical_path_kinds`
-- dur_ns    time of the kind in the time range, ns
-- percent   share of the time range, 0 to 100
CREATE MACRO critical_path_over_time(run, of_rank, of_step, of_source, bins) AS TABLE
    WITH
    intervals AS (
        SELECT kind, start_ns, start_ns + dur_ns AS end_ns
        FROM critical_path(run, of_rank, of_step, of_source)
    ),

    path_range AS (
        SELECT
            min(start_ns) AS since_ns,
            max(end_ns) AS until_ns,
            greatest(1, ceil((max(end_ns) - min(start_ns)) / bins))::BIGINT AS bin_ns
        FROM intervals
    ),

    binned AS (
        SELECT
            intervals.*,
            path_range.*,
            unnest(range(
                (intervals.start_ns - path_range.since_ns) // path_range.bin_ns,
                (intervals.end_ns - path_range.since_ns - 1) // path_range.bin_ns + 1
            )) AS bin
        FROM intervals
        CROSS JOIN path_range
    ),

    cut AS (
        SELECT
            bin,
            kind,
            since_ns + bin * bin_ns AS bin_start_ns,
            least(until_ns, since_ns + (bin + 1) * bin_ns) AS bin_end_ns,
            least(end_ns, bin_end_ns) - greatest(start_ns, bin_start_ns) AS dur_ns
        FROM binned
    )

    SELECT
        bin,
        bin_start_ns AS start_ns,
        bin_end_ns AS end_ns,
        kind,
        sum(dur_ns)::BIGINT AS dur_ns,
        100.0 * sum(dur_ns) / (bin_end_ns - bin_start_ns) AS percent
    FROM cut
    GROUP BY bin, bin_start_ns, bin_end_ns, kind;
