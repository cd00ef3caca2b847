-- The moment of the highest memory in a range of steps, on each device of a run:
-- `memory_moments_of_steps(run, from_step, to_step)`. Both steps are included. A null bound leaves
-- the range open on that side; if both are null, it covers all steps of the device. Devices without
-- such a step have no row. Pass the moments to `memory_by_owner_at` or another macro that takes
-- moments to see what held the memory.
-- One row: a moment of `memory_timeline`.
--
-- run_id, source_id, rank, device_id, device_type, device
-- ordinal  the action (`memory_events.ordinal`); -1 before the first action
-- time_ns  Unix time of the action, ns
-- action, used_bytes, allocated_bytes, active_bytes, reserved_bytes, origin
CREATE MACRO memory_moments_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    WITH selected_steps AS (
        SELECT
            steps.source_id,
            steps.device_id,
            steps.start_ordinal,
            steps.end_ordinal
        FROM memory_steps AS steps
        WHERE steps.run_id = run AND in_steps(steps.step, from_step, to_step)
    )

    SELECT moment.*
    FROM memory_timeline AS moment
    -- The action before a step determines the memory in use at its start.
    INNER JOIN selected_steps
        ON
            moment.source_id = selected_steps.source_id
            AND moment.device_id = selected_steps.device_id
            AND moment.ordinal >= selected_steps.start_ordinal - 1
            AND moment.ordinal < selected_steps.end_ordinal
    WHERE moment.run_id = run
    QUALIFY
        row_number() OVER (
            PARTITION BY moment.source_id, moment.device_id
            ORDER BY moment.used_bytes DESC, moment.ordinal
        ) = 1;
