-- What a step waited for in each of a number of equal stretches of its time:
-- `critical_path_over_time(run, of_rank, of_step, bins)`. The kinds fill each stretch.
-- One row: a kind in a stretch.
--
-- bin       number of the stretch, from 0
-- start_ns  Unix time at which the stretch begins, ns
-- end_ns    at which it ends, ns
-- kind      what took the time, as `critical_path_kinds` explains
-- dur_ns    time in it, ns
-- percent   of the stretch, 0 to 100
CREATE MACRO critical_path_over_time(run, of_rank, of_step, bins) AS TABLE
    WITH
    stretches AS (
        SELECT kind, start_ns, start_ns + dur_ns AS end_ns
        FROM critical_path(run, of_rank, of_step)
    ),

    frame AS (
        SELECT
            min(start_ns) AS since_ns,
            greatest(1, ceil((max(end_ns) - min(start_ns)) / bins))::BIGINT AS bin_ns
        FROM stretches
    ),

    placed AS (
        SELECT
            stretches.kind,
            stretches.start_ns - frame.since_ns AS start_ns,
            stretches.end_ns - frame.since_ns AS end_ns,
            frame.since_ns,
            frame.bin_ns,
            unnest(range(
                (stretches.start_ns - frame.since_ns) // frame.bin_ns,
                (stretches.end_ns - frame.since_ns - 1) // frame.bin_ns + 1
            )) AS bin
        FROM stretches
        CROSS JOIN frame
    )

    SELECT
        bin,
        any_value(since_ns) + bin * any_value(bin_ns) AS start_ns,
        any_value(since_ns) + (bin + 1) * any_value(bin_ns) AS end_ns,
        kind,
        sum(least(end_ns, (bin + 1) * bin_ns) - greatest(start_ns, bin * bin_ns))::BIGINT AS dur_ns,
        100.0 * sum(least(end_ns, (bin + 1) * bin_ns) - greatest(start_ns, bin * bin_ns))
        / any_value(bin_ns) AS percent
    FROM placed
    GROUP BY bin, kind;
