-- The time of each device divided into parts that do not overlap and add up to its span.
-- One row: a part of the time of one device of one rank of a run.
--
-- run_id, rank, device
-- part     compute; exposed_communication, without concurrent compute; exposed_copy, without
--          concurrent compute or communication; idle, without any activity
-- part_ns  time of the part, ns
-- percent  share of the device's span, 0 to 100; null if the span is 0
WITH parts AS (
    UNPIVOT device_time
    ON
    compute_ns AS compute,
    exposed_communication_ns AS exposed_communication,
    exposed_copy_ns AS exposed_copy,
    idle_ns AS idle
    INTO NAME part VALUE part_ns
)

SELECT
    run_id,
    rank,
    device,
    part,
    sum(part_ns)::BIGINT AS part_ns,
    100.0 * sum(part_ns) / nullif(sum(span_ns), 0) AS percent
FROM parts
GROUP BY run_id, rank, device, part;
