-- How much of the communication overlapped with compute on each device: `communication_overlap(run,
-- from_step, to_step)`. Without a run it is about all runs, without steps about whole recordings.
-- One row: a device that communicated, in these steps.
--
-- run_id, rank, device
-- communication_ns  time with a communication kernel, ns
-- overlapped_ns     time with a communication kernel and a compute kernel, ns
-- exposed_ns        time with a communication kernel but no compute kernel, ns
-- percent           share of `communication_ns` that overlapped, 0 to 100
CREATE MACRO communication_overlap(run := NULL, from_step := NULL, to_step := NULL) AS TABLE
    SELECT
        run_id,
        rank,
        device,
        sum(dur_ns)::BIGINT AS communication_ns,
        coalesce(sum(dur_ns) FILTER (WHERE list_contains(classes, 'compute')), 0)::BIGINT
            AS overlapped_ns,
        (communication_ns - overlapped_ns)::BIGINT AS exposed_ns,
        100.0 * overlapped_ns / nullif(communication_ns, 0) AS percent
    FROM class_overlap(run, from_step, to_step)
    WHERE list_contains(classes, 'communication')
    GROUP BY run_id, rank, device;
