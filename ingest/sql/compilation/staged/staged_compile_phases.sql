-- Phases of compilations, from the chromium events in a compile log.
-- One row: a phase.
CREATE TABLE staged_compile_phases (
    source_id INTEGER,
    compile_id VARCHAR,
    phase VARCHAR,
    start_ns BIGINT,
    end_ns BIGINT,
    reset INTEGER
);
