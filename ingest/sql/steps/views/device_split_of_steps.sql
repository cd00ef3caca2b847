-- The wall time of a range of steps, divided into parts on each device: `device_split_of_steps(run,
-- from_step, to_step)`. Both bounds are included. A null bound leaves the range open on that side;
-- if both are null, it covers the whole measured time. The parts do not overlap and add up to the
-- wall time.
-- One row: a part of these steps, on a device of a rank.
--
-- rank, device
-- part     compute; exposed_communication, without compute at the same time; exposed_copy, without
--          compute or communication at the same time; or a cause of idle time, or `fill`, as in
--          `parts`
-- part_ns  time in the part, ns
-- percent  share of the wall time, 0 to 100
CREATE MACRO device_split_of_steps(run, from_step := NULL, to_step := NULL) AS TABLE
    WITH
    metrics AS (
        SELECT
            *,
            busy_ns - exposed_communication_ns - exposed_copy_ns AS compute_ns
        FROM metrics_of_steps(run, from_step, to_step)
        WHERE measure = 'device'
    ),

    found AS (
        FROM (
            UNPIVOT (
                SELECT device_id, compute_ns, exposed_communication_ns, exposed_copy_ns FROM metrics
            )
            ON
            compute_ns AS compute,
            exposed_communication_ns AS exposed_communication,
            exposed_copy_ns AS exposed_copy
            INTO NAME part VALUE part_ns
        )
        UNION ALL BY NAME
        SELECT device_id, part, ns AS part_ns
        FROM parts_of_steps(run, from_step, to_step)
        WHERE is_idle IS NOT FALSE
    )

    SELECT
        metrics.rank,
        metrics.device,
        found.part,
        found.part_ns,
        100.0 * found.part_ns / nullif(metrics.wall_ns, 0) AS percent
    FROM found
    INNER JOIN metrics USING (device_id)
    WHERE found.part_ns > 0;
