-- Spans cut into equal intervals of time: `binned(spans, since_ns, until_ns, bins)`. `spans` has
-- start_ns, end_ns and any other columns.
-- One row: the part of a span in an interval: `bin`, the number of the interval from 0; `start_ns`
-- and `end_ns` of the interval; `part_ns`, the length of the part; and the other columns of the
-- span.
CREATE MACRO binned(spans, since_ns, until_ns, bins) AS TABLE
    WITH
    -- Times below count from `since_ns`.
    moved AS (
        SELECT
            * EXCLUDE (start_ns, end_ns),
            greatest(start_ns - since_ns::BIGINT, 0) AS from_ns,
            end_ns - since_ns::BIGINT AS to_ns,
            greatest(1, ceil((until_ns::BIGINT - since_ns::BIGINT) / bins))::BIGINT AS bin_ns
        FROM query_table(spans)
        WHERE start_ns < end_ns
    ),

    cut AS (
        SELECT * EXCLUDE (to_ns), least(to_ns, bin_ns * bins::BIGINT) AS to_ns
        FROM moved
    ),

    in_bins AS (
        SELECT *, unnest(range(from_ns // bin_ns, (to_ns - 1) // bin_ns + 1)) AS bin
        FROM cut
        WHERE to_ns > from_ns
    )

    SELECT
        * EXCLUDE (bin_ns, from_ns, to_ns),
        since_ns::BIGINT + bin * bin_ns AS start_ns,
        since_ns::BIGINT + (bin + 1) * bin_ns AS end_ns,
        least(to_ns, (bin + 1) * bin_ns) - greatest(from_ns, bin * bin_ns) AS part_ns
    FROM in_bins;
