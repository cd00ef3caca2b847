-- What a step waited for in each of a number of equal stretches of its time:
-- `critical_path_over_time(run, of_rank, of_step, of_source, bins)`. The kinds fill each stretch.
-- One row: a kind in a stretch.
--
-- bin       number of the stretch, from 0
-- start_ns  Unix time at which the stretch begins, ns
-- end_ns    at which it ends, ns
-- kind      what took the time, as `critical_path_kinds` explains
-- dur_ns    time in it, ns
-- percent   of the stretch, 0 to 100
CREATE MACRO critical_path_over_time(run, of_rank, of_step, of_source, bins) AS TABLE
    WITH
    stretches AS (
        SELECT kind, start_ns, start_ns + dur_ns AS end_ns
        FROM critical_path(run, of_rank, of_step, of_source)
    ),

    frame AS (
        SELECT
            min(start_ns) AS since_ns,
            max(end_ns) AS until_ns,
            greatest(1, ceil((max(end_ns) - min(start_ns)) / bins))::BIGINT AS bin_ns
        FROM stretches
    ),

    placed AS (
        SELECT
            stretches.*,
            frame.*,
            unnest(range(
                (stretches.start_ns - frame.since_ns) // frame.bin_ns,
                (stretches.end_ns - frame.since_ns - 1) // frame.bin_ns + 1
            )) AS bin
        FROM stretches
        CROSS JOIN frame
    ),

    cut AS (
        SELECT
            bin,
            kind,
            since_ns + bin * bin_ns AS bin_start_ns,
            least(until_ns, since_ns + (bin + 1) * bin_ns) AS bin_end_ns,
            least(end_ns, bin_end_ns) - greatest(start_ns, bin_start_ns) AS dur_ns
        FROM placed
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
