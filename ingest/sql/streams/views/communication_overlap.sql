-- How much of the communication overlapped with compute on each device:
-- `communication_overlap(by_step)`.
-- One row: a device that communicated, in the whole recording or in a step.
--
-- run_id, rank, device
-- step              step in which the activities were launched (`steps.step`); null outside steps,
--                   and without `by_step`
-- communication_ns  time with a communication kernel, ns
-- overlapped_ns     time with a communication kernel and a compute kernel, ns
-- exposed_ns        time with a communication kernel but no compute kernel, ns
-- percent           share of `communication_ns` that overlapped, 0 to 100
CREATE MACRO communication_overlap(by_step := FALSE) AS TABLE
    SELECT
        run_id,
        rank,
        device,
        step,
        sum(dur_ns)::BIGINT AS communication_ns,
        coalesce(sum(dur_ns) FILTER (WHERE list_contains(classes, 'compute')), 0)::BIGINT
            AS overlapped_ns,
        (communication_ns - overlapped_ns)::BIGINT AS exposed_ns,
        100.0 * overlapped_ns / nullif(communication_ns, 0) AS percent
    FROM class_overlap(by_step := by_step)
    WHERE list_contains(classes, 'communication')
    GROUP BY run_id, rank, device, step;
