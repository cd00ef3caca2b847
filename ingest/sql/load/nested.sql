-- Depth and parent of spans that nest on a lane, from a table of
-- (lane, span_id, start_ns, end_ns, nest_end_ns, event_index).
-- One row: a span.
--
-- A span's depth is the number of earlier spans (by start, then longest first) still open when it
-- starts; its parent is the last of those one level up. Spans of no length are nobody's parent.
-- Exact when spans nest; `nesting.py` shortens `nest_end_ns` where they cross.
CREATE MACRO nested(spans) AS TABLE
    WITH
    ordered AS (
        SELECT
            lane,
            span_id,
            start_ns,
            end_ns,
            nest_end_ns,
            row_number() OVER by_start AS place,
            (nest_end_ns > start_ns)::INTEGER AS opens,
            sum((nest_end_ns > start_ns)::INTEGER) OVER by_start AS opened
        FROM query_table(spans)
        WINDOW by_start AS (
            PARTITION BY lane ORDER BY start_ns, end_ns DESC, event_index, span_id
            ROWS UNBOUNDED PRECEDING
        )
    ),

    closings AS (
        SELECT
            lane,
            nest_end_ns,
            row_number() OVER (PARTITION BY lane ORDER BY nest_end_ns) AS closed
        FROM query_table(spans)
        WHERE nest_end_ns > start_ns
    ),

    closed_by AS (
        SELECT lane, nest_end_ns, max(closed) AS closed FROM closings GROUP BY ALL
    ),

    deep AS (
        SELECT
            ordered.*,
            (ordered.opened - ordered.opens - coalesce(closed_by.closed, 0))::INTEGER AS depth
        FROM ordered
        ASOF LEFT JOIN closed_by
            ON ordered.lane = closed_by.lane AND ordered.start_ns >= closed_by.nest_end_ns
    )

    SELECT
        child.span_id,
        child.lane,
        child.start_ns,
        child.end_ns,
        child.nest_end_ns,
        child.depth,
        parent.span_id AS parent_id,
        coalesce(parent.end_ns < child.end_ns, FALSE) AS crosses
    FROM deep AS child
    ASOF LEFT JOIN (SELECT * FROM deep WHERE opens = 1) AS parent
        ON
            child.lane = parent.lane
            AND child.depth - 1 = parent.depth
            AND child.place > parent.place;
