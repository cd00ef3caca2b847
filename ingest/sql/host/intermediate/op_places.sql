-- Position of each outermost operator in the user's program: its modules and its innermost user
-- frame.
-- One row: an outermost operator with at least one Python frame around it.
-- Materialised: it is joined, and DuckDB then knows its size.
WITH
-- Outermost first: earlier start, then later end, then the order of the profiler.
around AS (
    SELECT
        pair.lane,
        pair.from_ns,
        frame.event_id,
        frame.name,
        (frame.start_ns, -frame.end_ns, frame.event_index, frame.event_id) AS nesting_order,
        is_module(frame.name) AS is_module
    FROM overlapping('places', 'outermost_moments') AS pair
    INNER JOIN complete AS frame ON pair.event_id = frame.event_id
)

SELECT
    lane,
    from_ns AS start_ns,
    string_agg(substr(name, 12), '/' ORDER BY nesting_order) FILTER (WHERE is_module) AS module,
    arg_max(name, nesting_order) FILTER (WHERE NOT is_module) AS host_frame,
    arg_max(event_id, nesting_order) FILTER (WHERE NOT is_module) AS frame_id
FROM around
GROUP BY lane, from_ns;
