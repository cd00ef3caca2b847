-- The outermost operators of each thread: no other operator except wrappers is around them.
-- One row: a cpu_op that is not a wrapper and does not begin inside another such op of its thread.
-- Materialised: several relations read it.
WITH reached AS (
    SELECT
        lane,
        source_id,
        rank,
        event_id,
        name,
        start_ns,
        end_ns,
        max(end_ns) OVER (
            PARTITION BY lane ORDER BY start_ns, end_ns DESC, event_index, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_ns
    FROM complete
    WHERE category = 'cpu_op' AND NOT is_wrapper(name)
)

SELECT * EXCLUDE (reached_ns)
FROM reached
WHERE reached_ns IS NULL OR start_ns >= reached_ns;
