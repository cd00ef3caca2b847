-- Calls of compiled graphs in the traces of ranks that have a compile log.
-- One row: a call with the key of its graph, which is null if caches are off.
-- Materialised: an ASOF join reads it.
SELECT
    source_id,
    rank,
    event_id AS region_id,
    lane,
    start_ns,
    end_ns,
    nullif(regexp_extract(name, '^## Call CompiledFxGraph (.*?) ##', 1), 'None') AS key
FROM complete
WHERE
    category IN ('user_annotation', 'cpu_op')
    AND starts_with(name, '## Call CompiledFxGraph ')
    AND rank IN (SELECT rank FROM graphs);
