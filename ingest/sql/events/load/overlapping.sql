-- Pairs of a span and an interval that share time on a lane, from `spans` (lane, start_ns, end_ns,
-- and whatever else) and `intervals` (lane, from_ns, to_ns), disjoint on each lane.
-- One row: a pair: the span, `from_ns` of the interval, and how long they overlap.
--
-- Each span asks how many intervals begin before its start and before its end: the intervals it
-- meets are the numbers between, so the work grows with the pairs found and not with all pairs.
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

    -- Intervals that begin before a span ends: of these only the last is the latest to end.
    reached AS (
        SELECT span.*, last.ordinal AS last_ordinal
        FROM query_table(spans) AS span
        ASOF INNER JOIN numbered AS last
            ON span.lane = last.lane AND span.end_ns > last.from_ns
        WHERE span.end_ns > span.start_ns AND last.to_ns > span.start_ns
    ),

    met AS (
        SELECT
            reached.* EXCLUDE (last_ordinal),
            unnest(range(greatest(coalesce(first.ordinal, 0), 1), last_ordinal + 1)) AS met_ordinal
        FROM reached
        ASOF LEFT JOIN numbered AS first
            ON reached.lane = first.lane AND reached.start_ns > first.from_ns
    )

    SELECT
        met.* EXCLUDE (met_ordinal),
        numbered.from_ns,
        least(met.end_ns, numbered.to_ns) - greatest(met.start_ns, numbered.from_ns) AS overlap_ns
    FROM met
    INNER JOIN numbered ON met.lane = numbered.lane AND met.met_ordinal = numbered.ordinal
    WHERE numbered.to_ns > met.start_ns;
