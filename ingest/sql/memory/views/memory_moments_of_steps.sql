-- The moment of the highest memory from one step to another, on each device of a run:
-- `memory_moments_of_steps(run, from_step, to_step)`. Both steps are included. Without a bound, the
-- range is open on that side; without both, it covers all steps of the device. Devices without such
-- a step have no row. `memory_by_owner_at` and the other macros that take moments say what held it.
-- One row: a moment, as in `memory_timeline`.
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
CREATE MACRO memory_moments_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    WITH steps_asked AS (
        SELECT
            asked.source_id,
            asked.device_type,
            asked.device,
            asked.start_ordinal,
            asked.end_ordinal
        FROM memory_steps AS asked
        WHERE asked.run_id = run AND in_steps(asked.step, from_step, to_step)
    )

    SELECT moment.*
    FROM memory_timeline AS moment
    -- The action before a step left what was in use when it began.
    INNER JOIN steps_asked
        ON
            moment.source_id = steps_asked.source_id
            AND moment.device_type = steps_asked.device_type
            AND moment.device IS NOT DISTINCT FROM steps_asked.device
            AND moment.ordinal >= steps_asked.start_ordinal - 1
            AND moment.ordinal < steps_asked.end_ordinal
    WHERE moment.run_id = run
    QUALIFY
        row_number() OVER (
            PARTITION BY moment.source_id, moment.device_type, moment.device
            ORDER BY moment.used_bytes DESC, moment.ordinal
        ) = 1;
