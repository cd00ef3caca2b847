-- The metrics of a range of steps: `metrics_of_steps(run, from_step, to_step)`. Both bounds are
-- included. A null bound leaves the range open on that side; if both are null, it covers the whole
-- measured time.
-- One row: a device of a rank; in a run without a device, the rank's host.
--
-- device_id, rank, device, measure, is_default
-- steps            number of steps in the range
-- steps_name       name of the range in texts: `the median step`, `step 3`, `steps 3 to 7`, `all
--                  steps`, `the whole recording`
-- is_median        whether the range is the device's median step; always true if no steps were
--                  found
-- range_ns         sum of the lengths of these steps on the host, ns
-- wall_ns          wall time of these steps: the sum of their parts, ns
-- fill_ns          part of the wall time that fills the pipeline, as in `step_parts`, ns
-- busy_ns          time with an activity on any stream, or on a host on any thread, ns
-- idle_ns          idle time, ns
-- communication_ns, copy_ns, exposed_communication_ns
-- exposed_copy_ns  copies while neither compute nor communication ran, ns; null for a host
-- bubbles
-- activities       number of kernels, copies and memsets, or of operators of a host
-- kernels, launches
-- peak_bytes       peak of memory in use during these steps, bytes; without bounds, during the
--                  whole recording; null if not recorded
-- compilations     number of compilations that ran in the measured steps of the run; null if
--                  unknown
-- recompiles       number of recompilations in the measured steps of the run; null if unknown
-- compile_ns       time of the compilations in the measured steps of the run, ns; null if unknown
-- is_typed
CREATE MACRO metrics_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    WITH
    sums AS (
        SELECT
            step.run_id,
            step.device_id,
            count(*) FILTER (WHERE step.start_ns IS NOT NULL) AS steps,
            min(step.step) AS first_step,
            max(step.step) AS last_step,
            bool_and(step.is_median) AS is_median,
            sum(COLUMNS([
                'range_ns', 'exposed_communication_ns', 'exposed_copy_ns',
                'bubbles', 'activities', 'kernels', 'launches'
            ]))::BIGINT,
            max(step.peak_bytes) AS peak_bytes
        FROM step_metrics AS step
        WHERE step.run_id = run AND in_steps(step.step, from_step, to_step)
        GROUP BY step.run_id, step.device_id
    ),

    times AS (
        SELECT
            found.device_id,
            sum(found.ns)::BIGINT AS wall_ns,
            coalesce(sum(found.ns) FILTER (WHERE found.part = 'fill'), 0)::BIGINT AS fill_ns,
            sum(found.ns) FILTER (WHERE NOT found.is_idle)::BIGINT AS busy_ns,
            sum(found.ns) FILTER (WHERE found.is_idle)::BIGINT AS idle_ns,
            sum(found.ns) FILTER (WHERE found.part = 'communication')::BIGINT AS communication_ns,
            sum(found.ns) FILTER (WHERE found.part = 'copy')::BIGINT AS copy_ns
        FROM step_parts AS found
        WHERE found.run_id = run AND in_steps(found.step, from_step, to_step)
        GROUP BY found.device_id
    )

    SELECT
        sums.device_id,
        metrics.rank,
        metrics.device,
        metrics.measure,
        metrics.is_default,
        sums.steps,
        CASE
            WHEN metrics.steps_from = 'run' THEN 'the whole recording'
            WHEN coalesce(from_step, to_step) IS NULL THEN 'all steps'
            WHEN sums.is_median THEN 'the median step'
            WHEN sums.first_step = sums.last_step THEN format('step {}', sums.first_step)
            ELSE format('steps {} to {}', sums.first_step, sums.last_step)
        END AS steps_name,
        sums.is_median,
        sums.range_ns,
        times.* EXCLUDE (device_id),
        sums.exposed_communication_ns,
        sums.exposed_copy_ns,
        sums.bubbles,
        sums.activities,
        sums.kernels,
        sums.launches,
        if(coalesce(from_step, to_step) IS NULL, metrics.peak_bytes, sums.peak_bytes) AS peak_bytes,
        metrics.compilations,
        metrics.recompiles,
        metrics.compile_ns,
        metrics.is_typed
    FROM sums
    INNER JOIN times USING (device_id)
    INNER JOIN run_metrics AS metrics USING (run_id, device_id);
