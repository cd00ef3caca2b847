-- Phases that nest in each other: all but those for which the log names no compilation, which ran
-- on other threads.
-- One row: a phase.
FROM compile_spans WHERE evidence = 'trace' OR compile_id IS NOT NULL;
