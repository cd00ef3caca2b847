-- What runs at each time: `swept(spans)`. `spans` has run_id, lane, start_ns, end_ns, and columns
-- to add up. Spans of one lane may overlap. A null adds nothing.
-- One row: the time from an edge of a lane to the next, with the sums of the numbers over the spans
-- that run then. `begun` is the number of spans that begin at `start_ns`. `end_ns` is null for the
-- last edge of a lane.
CREATE MACRO swept(spans) AS TABLE
    WITH
    edges AS (
        SELECT
            * EXCLUDE (start_ns, end_ns),
            unnest([start_ns, end_ns]) AS edge_ns,
            unnest([1, -1]) AS change
        FROM query_table(spans)
    ),

    changes AS (
        SELECT
            run_id,
            lane,
            edge_ns,
            greatest(change, 0) AS begun,
            change * COLUMNS(* EXCLUDE (run_id, lane, edge_ns, change))
        FROM edges
    )

    SELECT
        run_id,
        lane,
        edge_ns AS start_ns,
        lead(edge_ns) OVER so_far AS end_ns,
        sum(begun)::BIGINT AS begun,
        coalesce(sum(sum(COLUMNS(* EXCLUDE (run_id, lane, edge_ns, begun)))) OVER so_far, 0)
    FROM changes
    GROUP BY run_id, lane, edge_ns
    WINDOW so_far AS (PARTITION BY run_id, lane ORDER BY edge_ns);
