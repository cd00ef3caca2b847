-- The memory of each device of a run at a Unix time in nanoseconds, including the actions at that
-- time: `memory_moments(run, t)`. Devices without recorded times have no rows.
-- One row: a moment of `memory_timeline`: the last one up to that time, or else the one before the
-- device's first action.
--
-- run_id, source_id, rank, device_id, device_type, device
-- ordinal  the action (`memory_events.ordinal`); -1 before the first action
-- time_ns  Unix time of the action, ns
-- action, used_bytes, allocated_bytes, active_bytes, reserved_bytes, origin
CREATE MACRO memory_moments(run, t) AS TABLE
    WITH last_up_to AS (
        SELECT source_id, device_id, max(ordinal) AS ordinal
        FROM memory_timeline
        WHERE run_id = run AND (time_ns <= t OR (ordinal = -1 AND time_ns IS NOT NULL))
        GROUP BY ALL
    )

    SELECT moment.*
    FROM memory_timeline AS moment
    INNER JOIN last_up_to USING (source_id, device_id, ordinal)
    WHERE moment.run_id = run;
