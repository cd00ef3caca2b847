-- Where in the user's program each outermost operator was called: its modules, and the innermost
-- frame that is the user's.
-- One row: an outermost operator with at least one Python frame around it.
-- Materialised: its reader joins it, and DuckDB then knows its size.
WITH
-- Outermost to innermost is by start, then longest first, then the profiler's own order.
around AS (
    SELECT
        met.lane,
        met.from_ns,
        frame.event_id,
        frame.name,
        (frame.start_ns, -frame.end_ns, frame.event_index, frame.event_id) AS nesting_order,
        is_module(frame.name) AS is_module
    FROM overlapping('places', 'outermost_moments') AS met
    INNER JOIN complete AS frame ON met.event_id = frame.event_id
)

SELECT
    lane,
    from_ns AS start_ns,
    string_agg(substr(name, 12), '/' ORDER BY nesting_order) FILTER (WHERE is_module) AS module,
    arg_max(name, nesting_order) FILTER (WHERE NOT is_module) AS host_frame,
    arg_max(event_id, nesting_order) FILTER (WHERE NOT is_module) AS frame_id
FROM around
GROUP BY lane, from_ns;
