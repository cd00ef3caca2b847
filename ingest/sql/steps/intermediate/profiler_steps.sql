-- Steps of the profiler's schedule.
-- One row: a `ProfilerStep#N` range of one input file.
-- Materialised: several relations read it.
SELECT
    source_id,
    any_value(rank) AS rank,
    step,
    min(start_ns) AS start_ns,
    (max(end_ns) - min(start_ns))::BIGINT AS dur_ns
FROM (
    SELECT *, try_cast(regexp_extract(name, '^ProfilerStep#([0-9]+)', 1) AS BIGINT) AS step
    FROM complete
    WHERE category IN ('user_annotation', 'cpu_op') AND name LIKE 'ProfilerStep#%'
)
WHERE step IS NOT NULL
GROUP BY source_id, step;
