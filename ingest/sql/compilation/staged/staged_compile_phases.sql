-- Phases of compilations as the chromium events of a compile log record them.
-- One row: a phase.
CREATE TABLE staged_compile_phases (
    source_id INTEGER,
    compile_id VARCHAR,
    phase VARCHAR,
    start_ns BIGINT,
    end_ns BIGINT
);
