-- Phases of compilations. All phases in logs are included; phases in traces only for compilations
-- that no log of the rank contains.
-- One row: a phase. Phases nest within a `lane`.
-- Materialised: `event_id` is a row number, which must stay the same for all readers.
SELECT
    phases.source_id,
    sources.rank,
    row_number() OVER () AS event_id,
    hash(phases.source_id, phases.compile_id, phases.reset) AS lane,
    phases.start_ns,
    phases.end_ns,
    0 AS event_index,
    phases.compile_id,
    phases.reset,
    phases.phase,
    'log' AS evidence
FROM staged_compile_phases AS phases
INNER JOIN staged_sources AS sources USING (source_id)
UNION ALL
SELECT
    phases.source_id,
    phases.rank,
    -phases.event_id AS event_id,
    phases.lane,
    phases.start_ns,
    phases.end_ns,
    phases.event_index,
    compiled.compile_id,
    0 AS reset,
    phases.phase,
    'trace' AS evidence
FROM traced_phases AS phases
INNER JOIN traced_compilations AS compiled
    ON phases.lane = compiled.lane AND phases.compiled_from_ns = compiled.start_ns
WHERE NOT EXISTS (
    FROM (
        SELECT DISTINCT sources.rank, logged.compile_id
        FROM staged_compile_phases AS logged
        INNER JOIN staged_sources AS sources USING (source_id)
    ) AS known
    WHERE
        known.rank = phases.rank
        AND coalesce(known.compile_id = compiled.compile_id, compiled.compile_id IS NULL)
);
