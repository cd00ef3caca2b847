-- Compile time of a rank by phase, over all its compilations. The self times add up to the
-- durations of the compilations.
-- One row: a phase of compilation, by name, of a rank of a run.
--
-- run_id, rank, phase
-- self_ns  time in which it was the innermost phase, ns
-- phases   number of phases with this name
SELECT run_id, rank, phase, sum(self_ns)::BIGINT AS self_ns, count(*) AS phases
FROM compile_phases
WHERE self_ns IS NOT NULL
GROUP BY run_id, rank, phase;
