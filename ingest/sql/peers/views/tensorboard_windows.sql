-- Part of `tensorboard_steps`: the start and end of each step by the plugin's rules.
-- One row: a step of an input file.
--
-- The steps are those of `steps`. A whole recording goes from the start of the first operator to
-- the end of the last. A step lasts until the end of the activities that were launched by calls
-- within it, and begins no earlier than the previous step ends. The first step begins no earlier
-- than the end of the activities that no step launched and that ended before the first activity of
-- that step.
--
-- run_id, source_id, rank
-- ordinal      number of the step among the steps of its file, in time order, from 1
-- step         number of the step (`steps.step`); null for a whole recording
-- steps_from
-- start_ns     Unix time at which the step begins, ns
-- end_ns       Unix time at which the step ends, ns
-- activities   number of device activities that the step launched
-- is_complete  false for the last steps of a file that launched no activities, and for the step
--              before them if it launched fewer than 0.8 times the activities of its previous step:
--              the profiler may have missed some activities
WITH
operators AS (
    SELECT run_id, source_id, min(start_ns) AS start_ns, max(start_ns + dur_ns) AS end_ns
    FROM events
    WHERE category = 'cpu_op'
    GROUP BY run_id, source_id
),

host_steps AS NOT MATERIALIZED (
    SELECT
        steps.run_id,
        steps.source_id,
        steps.rank,
        steps.step,
        steps.steps_from,
        row_number() OVER (
            PARTITION BY steps.run_id, steps.source_id ORDER BY steps.start_ns, steps.step
        ) AS ordinal,
        if(steps.steps_from = 'run', coalesce(operators.start_ns, steps.start_ns), steps.start_ns)
            AS start_ns,
        if(
            steps.steps_from = 'run',
            coalesce(operators.end_ns, steps.start_ns + steps.dur_ns),
            steps.start_ns + steps.dur_ns
        ) AS end_ns
    FROM steps
    LEFT JOIN operators USING (run_id, source_id)
),

activities AS NOT MATERIALIZED (
    SELECT
        kernels.run_id,
        kernels.source_id,
        kernels.start_ns,
        kernels.start_ns + kernels.dur_ns AS end_ns,
        host_steps.ordinal
    FROM kernels
    LEFT JOIN host_steps
        ON
            kernels.run_id = host_steps.run_id
            AND kernels.source_id = host_steps.source_id
            AND kernels.step IS NOT DISTINCT FROM host_steps.step
            AND kernels.launch_id IS NOT NULL
            AND kernels.launch_ns >= host_steps.start_ns
            AND kernels.launch_ns + kernels.launch_dur_ns <= host_steps.end_ns
),

launched AS NOT MATERIALIZED (
    SELECT
        run_id,
        source_id,
        ordinal,
        count(*) AS activities,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns
    FROM activities
    WHERE ordinal IS NOT NULL
    GROUP BY run_id, source_id, ordinal
),

earlier AS NOT MATERIALIZED (
    SELECT activities.run_id, activities.source_id, max(activities.end_ns) AS end_ns
    FROM activities
    INNER JOIN launched
        ON activities.run_id = launched.run_id AND activities.source_id = launched.source_id
    WHERE
        activities.ordinal IS NULL
        AND launched.ordinal = 1
        AND activities.end_ns < launched.start_ns
    GROUP BY activities.run_id, activities.source_id
),

reached AS (
    SELECT
        host_steps.*,
        coalesce(launched.activities, 0) AS activities,
        max(greatest(host_steps.end_ns, launched.end_ns, earlier.end_ns)) OVER (
            PARTITION BY host_steps.run_id, host_steps.source_id ORDER BY host_steps.ordinal
        ) AS reached_ns,
        earlier.end_ns AS earlier_ns
    FROM host_steps
    LEFT JOIN launched USING (run_id, source_id, ordinal)
    LEFT JOIN earlier USING (run_id, source_id)
),

compared AS (
    SELECT
        *,
        lag(reached_ns) OVER in_order AS before_ns,
        lag(activities) OVER in_order AS activities_before,
        max(if(activities > 0, ordinal, 0)) OVER (PARTITION BY run_id, source_id) AS last_launching
    FROM reached
    WINDOW in_order AS (PARTITION BY run_id, source_id ORDER BY ordinal)
)

SELECT
    run_id,
    source_id,
    rank,
    ordinal,
    step,
    steps_from,
    greatest(start_ns, coalesce(before_ns, earlier_ns)) AS start_ns,
    reached_ns AS end_ns,
    activities,
    last_launching = 0 OR ordinal < last_launching OR (
        ordinal = last_launching AND activities >= coalesce(0.8 * activities_before, 0)
    ) AS is_complete
FROM compared;
