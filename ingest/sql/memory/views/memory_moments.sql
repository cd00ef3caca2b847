-- The moment of each device of a run at a Unix time in nanoseconds: `memory_moments(run, t)`, after
-- what happened at that time. Devices without times have no rows.
-- One row: a moment, as in `memory_timeline`: the last up to that time, else the one before the
-- device's first action.
--
-- run_id           the run
-- source_id        the input file
-- rank             rank of the process
-- device_type      cuda, cpu, xpu, …; `unknown` where a timeline does not say
-- device           number of the device; null for the CPU
-- ordinal          the action (`memory_events.ordinal`); -1: before the first
-- time_ns          Unix time of the action, ns
-- action           what happened; null before the first
-- used_bytes       in use after it: active bytes of a snapshot, else allocated bytes
-- allocated_bytes  allocated after it
-- active_bytes     allocated, or with its free pending; null where not recorded
-- reserved_bytes   held by the allocator; null where not recorded
-- origin           snapshot, trace or timeline
CREATE MACRO memory_moments(run, t) AS TABLE
    WITH last_up_to AS (
        SELECT source_id, device_type, device, max(ordinal) AS ordinal
        FROM memory_timeline
        WHERE run_id = run AND (time_ns <= t OR (ordinal = -1 AND time_ns IS NOT NULL))
        GROUP BY source_id, device_type, device
    )

    SELECT moment.*
    FROM memory_timeline AS moment
    INNER JOIN last_up_to
        ON
            moment.source_id = last_up_to.source_id
            AND moment.device_type = last_up_to.device_type
            AND moment.device IS NOT DISTINCT FROM last_up_to.device
            AND moment.ordinal = last_up_to.ordinal
    WHERE moment.run_id = run;
