-- What torch.compile spent its time on, over all compilations of a rank. The times add up to those
-- of its compilations.
-- One row: a phase of compilation, by name, of a rank of a run.
--
-- run_id  the run
-- rank    rank of the process
-- phase   name of the phase, as torch names it
-- self_ns  time in which it was the innermost phase, ns
-- phases  times it occurred
SELECT run_id, rank, phase, sum(self_ns)::BIGINT AS self_ns, count(*) AS phases
FROM compile_phases
WHERE self_ns IS NOT NULL
GROUP BY run_id, rank, phase;
