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
            row_number() OVER (PARTITION BY lane ORDER BY from_ns) AS place
        FROM query_table(intervals)
    ),

    met AS (
        SELECT
            span.*,
            unnest(range(greatest(coalesce(first.place, 0), 1), last.place + 1)) AS met_place
        FROM query_table(spans) AS span
        ASOF INNER JOIN numbered AS last
            ON span.lane = last.lane AND span.end_ns > last.from_ns
        ASOF LEFT JOIN numbered AS first
            ON span.lane = first.lane AND span.start_ns > first.from_ns
        WHERE span.end_ns > span.start_ns
    )

    SELECT
        met.* EXCLUDE (met_place),
        numbered.from_ns,
        least(met.end_ns, numbered.to_ns) - greatest(met.start_ns, numbered.from_ns) AS overlap_ns
    FROM met
    INNER JOIN numbered ON met.lane = numbered.lane AND met.met_place = numbered.place
    WHERE numbered.to_ns > met.start_ns;
