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
        SELECT min(start_ns) AS since_ns, max(end_ns) AS until_ns FROM intervals
    ),

    parts_of_bins AS (
        SELECT * REPLACE (least(end_ns, (SELECT until_ns FROM path_range)) AS end_ns)
        FROM binned(
            'intervals',
            (SELECT since_ns FROM path_range),
            (SELECT until_ns FROM path_range),
            bins
        )
    )

    SELECT
        bin,
        start_ns,
        end_ns,
        kind,
        sum(part_ns)::BIGINT AS dur_ns,
        100.0 * sum(part_ns) / any_value(end_ns - start_ns) AS percent
    FROM parts_of_bins
    GROUP BY ALL;
