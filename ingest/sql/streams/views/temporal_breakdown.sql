-- The time of each device divided into compute, other work and idle time: `temporal_breakdown(run,
-- from_step, to_step)`. The parts do not overlap. They add up to the time from the device's first
-- activity to its last. In steps, they add up to the wall time of these. Without a run it is about
-- all runs, without steps about whole recordings.
-- One row: a part of the time of a device, in these steps.
--
-- run_id, rank, device
-- kind     compute, non_compute or idle
-- part     compute; exposed_communication, without concurrent compute; exposed_copy, without
--          concurrent compute or communication; otherwise a cause of idle time, or `fill`, as in
--          `parts`
-- ns       time of the part, ns
-- percent  share of the device's time, 0 to 100
CREATE MACRO temporal_breakdown(run := NULL, from_step := NULL, to_step := NULL) AS TABLE
    WITH
    busy AS (
        SELECT
            run_id,
            device_id,
            rank,
            device,
            busy_ns - exposed_communication_ns - exposed_copy_ns AS compute,
            exposed_communication_ns AS exposed_communication,
            exposed_copy_ns AS exposed_copy
        FROM step_metrics
        WHERE exposed_copy_ns IS NOT NULL AND is_asked(run_id, step, run, from_step, to_step)
    ),

    chosen AS (
        SELECT run_id, rank, device, part, part_ns AS ns
        FROM device_split
        WHERE part <> 'idle' AND is_of_run(run_id, run) AND is_whole(from_step, to_step)
        UNION ALL
        SELECT run_id, rank, device, cause AS part, idle_ns AS ns
        FROM bubble_causes
        WHERE is_of_run(run_id, run) AND is_whole(from_step, to_step)
        UNION ALL BY NAME
        SELECT * EXCLUDE (device_id) FROM (
            UNPIVOT busy
            ON compute, exposed_communication, exposed_copy
            INTO NAME part VALUE ns
        )
        WHERE NOT is_whole(from_step, to_step)
        UNION ALL BY NAME
        SELECT run_id, rank, device, part, ns
        FROM step_parts
        SEMI JOIN busy USING (run_id, device_id)
        WHERE
            is_idle IS NOT FALSE
            AND NOT is_whole(from_step, to_step)
            AND is_asked(run_id, step, run, from_step, to_step)
    )

    SELECT
        run_id,
        rank,
        device,
        CASE
            WHEN part = 'compute' THEN 'compute'
            WHEN starts_with(part, 'exposed_') THEN 'non_compute'
            ELSE 'idle'
        END AS kind,
        part,
        sum(ns)::BIGINT AS ns,
        100.0 * sum(ns) / nullif(sum(sum(ns)) OVER on_device, 0) AS percent
    FROM chosen
    GROUP BY run_id, rank, device, part
    HAVING sum(ns) > 0
    WINDOW on_device AS (PARTITION BY run_id, rank, device);
