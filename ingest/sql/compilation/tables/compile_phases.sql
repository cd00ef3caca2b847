-- The phases of compilations, with their time. The self times of a compilation add up to its
-- duration.
-- One row: a phase of a compilation.
--
-- run_id
-- source_id   the compile log, or the trace if the rank has no log
-- rank
-- compile_id  the compilation (`compilations.compile_id`), for example `0/1`; null if unknown, and
--             for work on other threads
-- phase
-- start_ns    start, Unix time, ns
-- dur_ns
-- self_ns     time in which it was the innermost phase, ns; null for work on other threads
-- depth       number of phases around it; null for work on other threads
SELECT
    spans.source_id,
    spans.rank,
    spans.compile_id,
    spans.phase,
    spans.start_ns,
    spans.end_ns - spans.start_ns AS dur_ns,
    compile_nest.self_ns,
    compile_nest.depth
FROM compile_spans AS spans
LEFT JOIN compile_nest USING (event_id);
