-- Phases that nest: all except the phases without a compilation in a log, which ran on other
-- threads.
-- One row: a phase.
FROM compile_spans WHERE evidence = 'trace' OR compile_id IS NOT NULL;
