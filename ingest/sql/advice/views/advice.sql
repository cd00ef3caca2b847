-- Advice on what could make a run faster, with an upper bound of the time saved in the median step.
-- These are the checks of `advice_checks` above a threshold: at least 1 % of the wall time of the
-- median step, and at least 50 µs.
-- One row: a piece of advice, for a device of a rank of a run; without a device, for a rank's host.
-- Start here: What could make a run faster, and by how much at most?
--
-- Each bound is an upper bound, and at least the gain of such work on the step's critical path.
-- Idle time counts in only one piece of advice, but the time of a kernel can count in two, and work
-- on the path can shorten gaps of other causes. The bounds therefore do not add up.
--
-- run_id, device_id, rank, device, is_default
-- kind        kind of advice, as in `advice_kinds`
-- bound_ns    upper bound of the time that the advice can save in the median step, ns
-- idle_ns     idle time in the bound, which no other advice counts, ns
-- gain_ns, is_reachable
-- percent     bound in percent of the wall time of the median step, 0 to 100
-- finding     the finding, as a sentence
-- remedy
-- cause       cause of the bubbles that the advice is about, as in `bubbles`; null for other advice
-- kernel      kernel with the largest share of the time; null if the advice is not about kernels
-- op          operator with the largest share of the time; null if the advice is not about
--             operators
SELECT * EXCLUDE (is_advice, wall_ns, unknown_reason)
FROM advice_checks
WHERE is_advice;
