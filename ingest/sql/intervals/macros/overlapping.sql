-- Pairs of a span and an interval that overlap on a lane. `spans` has lane, start_ns, end_ns and
-- any other columns. `intervals` has lane, from_ns, to_ns; they are disjoint on each lane.
-- One row: a pair: the span, `from_ns` of the interval, and the length of the overlap.
--
-- For each span, two ASOF joins count the intervals that begin before its start and before its end.
-- The intervals between the two counts are those that it overlaps. So the work grows with the pairs
-- found, not with all possible pairs.
CREATE MACRO overlapping(spans, intervals) AS TABLE
    WITH
    numbered AS (
        SELECT
            lane,
            from_ns,
            to_ns,
            row_number() OVER (PARTITION BY lane ORDER BY from_ns) AS ordinal
        FROM query_table(intervals)
    ),

    -- The last interval that begins before a span ends is also the last of these to end.
    reached AS (
        SELECT span.*, last.ordinal AS last_ordinal
        FROM query_table(spans) AS span
        ASOF INNER JOIN numbered AS last
            ON span.lane = last.lane AND span.end_ns > last.from_ns
        WHERE span.end_ns > span.start_ns AND last.to_ns > span.start_ns
    ),

    pairs AS (
        SELECT
            reached.* EXCLUDE (last_ordinal),
            unnest(range(greatest(coalesce(first.ordinal, 0), 1), last_ordinal + 1))
                AS interval_ordinal
        FROM reached
        ASOF LEFT JOIN numbered AS first
            ON reached.lane = first.lane AND reached.start_ns > first.from_ns
    )

    SELECT
        pairs.* EXCLUDE (interval_ordinal),
        numbered.from_ns,
        least(pairs.end_ns, numbered.to_ns) - greatest(pairs.start_ns, numbered.from_ns)
            AS overlap_ns
    FROM pairs
    INNER JOIN numbered ON pairs.lane = numbered.lane AND pairs.interval_ordinal = numbered.ordinal
    WHERE numbered.to_ns > pairs.start_ns;
