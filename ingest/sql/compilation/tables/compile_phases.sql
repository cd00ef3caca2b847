-- What torch.compile spent its time on. Self times of a compilation add up to its duration.
-- One row: a phase of a compilation.
--
-- run_id      the run
-- source_id   the compile log, or the trace where the rank has no log
-- rank        rank of the process
-- compile_id  the compilation (`compilations.compile_id`), e.g. `0/1`; null for what other threads
--             did meanwhile
-- phase       name of the phase, as torch names it
-- start_ns    Unix time, ns
-- dur_ns      length, ns
-- self_ns     time in which it was the innermost phase, ns; null for what other threads did
-- depth       phases around it; null for what other threads did
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
