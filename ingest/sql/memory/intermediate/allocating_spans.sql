-- Operators and modules that may be around an allocation: on the lane of their thread and, if an
-- allocation of a snapshot needs it, on the lane of their rank.
-- One row: an operator or module on a lane.
WITH spans AS (
    SELECT
        lane,
        rank,
        event_id,
        name,
        start_ns,
        end_ns,
        category = 'cpu_op' AS is_op,
        (start_ns, -end_ns, event_index, event_id) AS position
    FROM complete
    WHERE
        (category = 'cpu_op' OR (category = 'python_function' AND is_module(name)))
        AND start_ns <= (SELECT max(from_ns) FROM timed_allocs)
)

SELECT lane, event_id, name, start_ns, end_ns, is_op, position
FROM spans
WHERE lane IN (SELECT lane FROM timed_allocs)
UNION ALL
SELECT hash('rank', rank) AS lane, event_id, name, start_ns, end_ns, is_op, position
FROM spans
WHERE hash('rank', rank) IN (SELECT lane FROM timed_allocs);
