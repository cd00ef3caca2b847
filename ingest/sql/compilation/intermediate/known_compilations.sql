-- Compilations as reported by each kind of source: log, run.json or trace. If a trace shows that
-- code ran but not its compilation, the code was compiled before the trace. A trace does not show
-- resets of Dynamo, after which ids begin at 0/0 again.
-- One row: a compilation in one source; `times` are the intervals that it took.
-- Materialised: it is read twice, and its rows are numbered.
FROM logged_compilations
UNION ALL BY NAME
FROM described_compilations
UNION ALL BY NAME
SELECT source_id, rank, compile_id, reset, evidence, start_ns, dur_ns, times
FROM compile_times
WHERE evidence = 'trace'
UNION ALL BY NAME
SELECT DISTINCT source_id, rank, compile_id, 0 AS reset, 'trace' AS evidence, [] AS times
FROM compiled_regions
WHERE compile_id <> '' AND (source_id, compile_id) NOT IN (
    SELECT (source_id, compile_id) FROM compile_times WHERE compile_id IS NOT NULL
);
