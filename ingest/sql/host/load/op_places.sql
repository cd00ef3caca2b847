-- Where in the user's program each outermost operator was called.
-- One row: an outermost operator with at least one Python frame around it.
--
-- The frame is the innermost that is the user's: not a function built in, nor one of torch itself,
-- nor of a program that torch.compile wrote. torch.compile names the same frames as the origin of
-- what it compiles.
CREATE MACRO is_module(name) AS name LIKE 'nn.Module: %';

CREATE MACRO is_user_frame(name) AS NOT regexp_matches(
    name,
    '^(<|nn\.Module: )|(^|/)torch/|(^|/)(contextlib|functools)\.py\(|/c[a-z2-7]{51}\.py\('
);

CREATE VIEW outermost_moments AS
SELECT DISTINCT lane, start_ns AS from_ns, start_ns + 1 AS to_ns FROM outermost_ops;

CREATE VIEW places AS
SELECT lane, event_id, start_ns, end_ns
FROM complete
WHERE category = 'python_function' AND (is_module(name) OR is_user_frame(name));

CREATE TABLE op_places AS
WITH
-- Outermost to innermost is by start, then longest first, then the profiler's own order.
around AS (
    SELECT
        met.lane,
        met.from_ns,
        frame.event_id,
        frame.name,
        (frame.start_ns, -frame.end_ns, frame.event_index, frame.event_id) AS place,
        is_module(frame.name) AS is_module
    FROM overlapping('places', 'outermost_moments') AS met
    INNER JOIN complete AS frame ON met.event_id = frame.event_id
)

SELECT
    lane,
    from_ns AS start_ns,
    string_agg(substr(name, 12), '/' ORDER BY place) FILTER (WHERE is_module) AS module,
    arg_max(name, place) FILTER (WHERE NOT is_module) AS frame,
    arg_max(event_id, place) FILTER (WHERE NOT is_module) AS frame_id
FROM around
GROUP BY lane, from_ns;
