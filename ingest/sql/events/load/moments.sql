-- What meets where: moments, as intervals of one nanosecond, and the spans that may contain them.
-- One row: a moment at which a thread launched something, or began an operator; an operator; a
-- Python frame that is an nn.Module.
--
-- Outermost to innermost is by start, then longest first, then the profiler's own order: `place`.
CREATE VIEW launch_moments AS
SELECT DISTINCT lane, launch_ns AS from_ns, launch_ns + 1 AS to_ns FROM launches;

CREATE VIEW op_moments AS
SELECT DISTINCT lane, start_ns AS from_ns, start_ns + 1 AS to_ns FROM op_spans;

CREATE VIEW cpu_ops AS
SELECT
    lane,
    event_id,
    name,
    start_ns,
    end_ns,
    row_number() OVER (ORDER BY start_ns, end_ns DESC, event_index, event_id) AS place
FROM complete
WHERE category = 'cpu_op';

CREATE VIEW modules AS
SELECT
    lane,
    source_id,
    name,
    start_ns,
    end_ns,
    row_number() OVER (ORDER BY start_ns, end_ns DESC, event_index, event_id) AS place
FROM complete
WHERE category = 'python_function' AND name LIKE 'nn.Module: %';
