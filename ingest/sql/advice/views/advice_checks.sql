-- The checks for what could make a run faster: for each kind of advice, an upper bound of the time
-- saved in the median step, or why the bound is unknown.
-- One row: a kind of advice, for a device of a rank of a run; without a device, for a rank's host.
--
-- Each bound is an upper bound, and at least the gain of such work on the step's critical path
-- (`critical_path_gains`). Idle time counts once, in the kind of advice for the cause of the gap;
-- idle time of cause `launch` counts in `small_kernels`. The time of a kernel can count in two
-- kinds, and work on the path can shorten gaps of other causes. The bounds therefore do not add up.
--
-- run_id, device_id, rank, device, is_default
-- kind        kind of advice, as in `advice_kinds`
-- bound_ns    upper bound of the time that the advice can save in the median step, ns; null if
--             unknown
-- idle_ns     idle time in the bound, which no other kind counts, ns
-- gain_ns, is_reachable, is_advice
-- wall_ns     wall time of the median step, ns
-- percent     bound in percent of the wall time, 0 to 100
-- finding, remedy
-- cause       cause of the bubbles that the advice is about, as in `bubbles`; null for other advice
-- kernel      kernel with the largest share of the time; null if the advice is not about kernels
-- op          operator with the largest share of the time; null if the advice is not about
--             operators
-- unknown_reason
WITH
measured_steps AS NOT MATERIALIZED (
    SELECT
        *,
        if(steps_from = 'run', 'the whole recording', 'the median step') AS steps_name
    FROM run_metrics
)

SELECT * FROM advice_of('median_advice_sums', 'median_shape_work', 'measured_steps');
