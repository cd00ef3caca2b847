-- Phases of torch.compile that a trace records as operators.
-- One row: a phase; `compiled_from_ns` is the start of the outermost phase around it.
-- Materialised: several relations read it, and finding the names takes a scan of all operators.
SELECT
    *,
    max(CASE WHEN is_outermost THEN start_ns END) OVER so_far AS compiled_from_ns
FROM (
    SELECT
        source_id,
        rank,
        event_id,
        lane,
        start_ns,
        end_ns,
        event_index,
        replace(name, ' (dynamo_timed)', '') AS phase,
        coalesce(start_ns >= max(end_ns) OVER before, TRUE) AS is_outermost
    FROM complete
    WHERE
        category = 'cpu_op'
        AND name IN (
            SELECT name FROM (SELECT DISTINCT name FROM staged WHERE category = 'cpu_op')
            WHERE is_compilation(name)
        )
    WINDOW before AS (
        PARTITION BY lane ORDER BY start_ns, end_ns DESC, event_index
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)
WINDOW so_far AS (PARTITION BY lane ORDER BY start_ns, end_ns DESC, event_index);
