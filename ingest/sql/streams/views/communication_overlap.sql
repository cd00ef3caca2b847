-- How much of the communication ran while a device computed: `communication_overlap(by_step)`.
-- One row: a device that communicated, in the whole recording or in a step.
--
-- run_id            the run
-- rank              rank of the process
-- device            number of the device
-- step              step that launched the activities (`steps.step`);
--                   null outside steps, and without `by_step`
-- communication_ns  union of the communication kernels, ns
-- overlapped_ns     of that, while a compute kernel ran, ns
-- exposed_ns        of that, while none ran, ns
-- percent           share that overlapped, 0 to 100
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
