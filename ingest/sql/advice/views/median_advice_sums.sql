-- Part of `advice_checks`: the sums of facts over the median step.
-- One row: a kind of advice for which there are facts, for a device of a rank of a run, or for its
-- host.
-- Indexed: Advice on all runs reads it.
--
-- run_id, device_id, rank, device
-- kind              kind of advice, as in `advice_kinds`
-- calls             number of kernels for `small_kernels`, of operator calls for `float_matmul`
-- work_ns
-- saved_ns          sum of `saved_ns` of the facts, ns; null if none has it
-- idle_ns           idle time that counts in this kind, ns
-- late_ns
-- waiting_ns        time in which the rank waited in collectives, ns; null if unknown
-- name              name with the longest time
-- named_ns
-- gain_ns           gain on the critical path of the step, ns; null if there is none
WITH
facts_of_steps AS NOT MATERIALIZED (SELECT * FROM advice_facts WHERE is_median)

SELECT * FROM advice_sums_of('facts_of_steps');
