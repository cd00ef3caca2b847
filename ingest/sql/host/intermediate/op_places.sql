-- Position of each outermost operator in the user's program: its modules and its innermost user
-- frame.
-- One row: an outermost operator with at least one Python frame around it.
-- Materialised: it is joined, and DuckDB then knows its size.
--
-- Most operators have many frames around them, but few different lists of modules. So the pairs of
-- an operator and a frame have only numbers, and the names are joined later.
WITH
frames AS (FROM places),  -- numbered once

spans AS (SELECT lane, start_ns, end_ns, is_module, nesting_order FROM frames),

around AS (
    SELECT
        lane,
        from_ns,
        list(nesting_order ORDER BY nesting_order) FILTER (WHERE is_module) AS modules,
        max(nesting_order) FILTER (WHERE NOT is_module) AS innermost
    FROM overlapping('spans', 'outermost_moments')
    GROUP BY lane, from_ns
),

members AS (
    SELECT modules, unnest(modules) AS nesting_order
    FROM (SELECT DISTINCT modules FROM around)
),

paths AS (
    SELECT
        members.modules,
        string_agg(substr(frames.name, 12), '/' ORDER BY nesting_order) AS module
    FROM members
    INNER JOIN frames USING (nesting_order)
    GROUP BY members.modules
)

SELECT
    around.lane,
    around.from_ns AS start_ns,
    paths.module,
    frames.name AS host_frame,
    frames.event_id AS frame_id
FROM around
LEFT JOIN paths USING (modules)
LEFT JOIN frames ON around.innermost = frames.nesting_order;
