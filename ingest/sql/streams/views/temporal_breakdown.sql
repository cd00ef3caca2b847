-- The time of each device divided into compute, other work and idle time:
-- `temporal_breakdown(by_step)`. The parts do not overlap. They add up to the time from the
-- device's first activity to its last. By step, they add up to the wall time of the step.
-- One row: a part of the time of a device, in the whole recording or in a step.
--
-- run_id, rank, device
-- step     step (`steps.step`); null outside steps, and without `by_step`
-- kind     compute, non_compute or idle
-- part     compute; exposed_communication, without concurrent compute; exposed_copy, without
--          concurrent compute or communication; otherwise a cause of idle time, or `fill`, as in
--          `parts`
-- ns       time of the part, ns
-- percent  share of the device's time, 0 to 100
CREATE MACRO temporal_breakdown(by_step := FALSE) AS TABLE
    WITH
    of_recording AS (
        SELECT run_id, rank, device, NULL AS step, part, part_ns AS ns
        FROM device_split
        WHERE part <> 'bubble'
        UNION ALL
        SELECT run_id, rank, device, NULL AS step, cause AS part, idle_ns AS ns
        FROM bubble_causes
    ),

    busy AS (
        SELECT
            run_id,
            rank,
            device,
            step,
            busy_ns - exposed_communication_ns - exposed_copy_ns AS compute,
            exposed_communication_ns AS exposed_communication,
            exposed_copy_ns AS exposed_copy
        FROM step_metrics
        WHERE exposed_copy_ns IS NOT NULL
    ),

    of_steps AS (
        SELECT * FROM (
            UNPIVOT busy
            ON compute, exposed_communication, exposed_copy
            INTO NAME part VALUE ns
        )
        UNION ALL BY NAME
        SELECT run_id, rank, device, step, part, ns
        FROM step_parts
        WHERE
            is_idle IS NOT FALSE
            AND run_id IN (SELECT device_time.run_id FROM device_time)
    ),

    chosen AS (
        SELECT * FROM of_recording WHERE NOT by_step
        UNION ALL BY NAME
        SELECT * FROM of_steps WHERE by_step
    )

    SELECT
        run_id,
        rank,
        device,
        step,
        CASE
            WHEN part = 'compute' THEN 'compute'
            WHEN starts_with(part, 'exposed_') THEN 'non_compute'
            ELSE 'idle'
        END AS kind,
        part,
        sum(ns)::BIGINT AS ns,
        100.0 * sum(ns) / nullif(sum(sum(ns)) OVER on_device, 0) AS percent
    FROM chosen
    GROUP BY run_id, rank, device, step, part
    HAVING sum(ns) > 0
    WINDOW on_device AS (PARTITION BY run_id, rank, device, step);
