-- One step of each of two runs side by side: `step_diff(base, other, nth_step, rank := NULL)`,
-- where `nth_step` is the number of the measured step in each run, from 1. It uses the device with
-- the longest wall time of each run, or of `rank` if that is given.
-- One row: a metric of `step_metrics` or a part of `step_parts`. Those with `is_part` add up to
-- metric `wall`. There are no rows if a run is unknown or lacks the step.
--
-- metric   name of the metric, without its unit, as in `run_diff`
-- unit
-- base     value in the first run; null if unknown; an overlap is negative, so that the parts add
--          up
-- other    value in the second run; null if unknown
-- change   second minus first; a part that only one run has counts as 0 in the other
-- percent  change in percent of the absolute value of the first; null if that is 0
-- is_part
-- ordinal  display order of the metrics: the wall time, then its parts, then the others
CREATE MACRO step_diff(base, other, nth_step, rank := NULL) AS TABLE
    WITH
    sides AS (
        SELECT * FROM compared_runs(base, other, rank := rank, nth_step := nth_step)
    ),

    steps AS (
        SELECT
            sides.side,
            [
                { 'metric': 'wall', 'unit': 'ns', 'value': found.wall_ns },
                { 'metric': 'range', 'unit': 'ns', 'value': found.range_ns },
                { 'metric': 'busy', 'unit': 'ns', 'value': found.busy_ns },
                { 'metric': 'idle', 'unit': 'ns', 'value': found.idle_ns },
                {
                    'metric': 'exposed_communication',
                    'unit': 'ns',
                    'value': found.exposed_communication_ns
                },
                { 'metric': 'exposed_copy', 'unit': 'ns', 'value': found.exposed_copy_ns },
                { 'metric': 'bubbles', 'unit': 'count', 'value': found.bubbles },
                { 'metric': 'activities', 'unit': 'count', 'value': found.activities },
                { 'metric': 'kernels', 'unit': 'count', 'value': found.kernels },
                { 'metric': 'short_kernels', 'unit': 'count', 'value': found.short_kernels },
                { 'metric': 'launches', 'unit': 'count', 'value': found.launches },
                { 'metric': 'graph_launches', 'unit': 'count', 'value': found.graph_launches },
                { 'metric': 'launch_call', 'unit': 'ns', 'value': found.launch_call_ns },
                { 'metric': 'peak', 'unit': 'bytes', 'value': found.peak_bytes }
            ] AS metrics
        FROM sides
        INNER JOIN step_metrics AS found USING (run_id, source_id, device_id, step)
        WHERE found.run_id IN (base, other)
    ),

    unnested AS (
        SELECT
            steps.side,
            unnest(steps.metrics) AS row,
            generate_subscripts(steps.metrics, 1) AS metric_ordinal
        FROM steps
    ),

    listed AS (
        SELECT
            unnested.side,
            unnested.row.metric,
            unnested.row.unit,
            unnested.row.value,
            -- The parts come between the wall time and the other metrics.
            if(unnested.metric_ordinal = 1, 0, 100 + unnested.metric_ordinal) AS ordinal,
            FALSE AS is_part
        FROM unnested
        UNION ALL
        SELECT
            sides.side,
            metric_of_part(part.part, part.is_idle) AS metric,
            'ns' AS unit,
            part.ns AS value,
            part.ordinal,
            TRUE AS is_part
        FROM sides
        INNER JOIN step_parts AS part USING (run_id, source_id, device_id, step)
        WHERE part.run_id IN (base, other) AND (part.is_idle IS NOT NULL OR part.ns > 0)
    ),

    found AS (
        SELECT
            listed.metric,
            listed.unit,
            listed.is_part,
            min(listed.ordinal) AS ordinal,
            max(listed.value) FILTER (WHERE listed.side = 'base') AS base_value,
            max(listed.value) FILTER (WHERE listed.side = 'other') AS other_value
        FROM listed
        GROUP BY listed.metric, listed.unit, listed.is_part
    ),

    changes AS (
        SELECT
            found.*,
            if(
                found.is_part,
                coalesce(found.other_value, 0) - coalesce(found.base_value, 0),
                found.other_value - found.base_value
            ) AS change
        FROM found
    )

    SELECT
        changes.metric,
        changes.unit,
        changes.base_value AS base,
        changes.other_value AS other,
        changes.change,
        percent_change(changes.change, changes.base_value) AS percent,
        changes.is_part,
        changes.ordinal
    FROM changes
    ORDER BY changes.ordinal;
