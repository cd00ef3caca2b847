-- Operators of MegEngine by type: time on device and host, operations, and bytes read and written.
-- One row: a type of operators in a file.
--
-- run_id, source_id, rank
-- type             kind of the operators
-- oprs             number of operators of the type that have a time
-- device_time_ns   sum of the operators' times by end on comp nodes, ns; null if not recorded
-- host_time_ns     sum of the operators' times by end on the host, ns; null if not recorded
-- computation_flo  total number of floating-point operations; null if none were counted
-- memory_bytes     total of the bytes that the operators read and write
-- flo_per_s        floating-point operations divided by `device_time_ns`, per second; null if that
--                  is 0
-- bytes_per_s      bytes read and written divided by `device_time_ns`, per second; null if that is
--                  0
SELECT
    run_id,
    source_id,
    any_value(rank) AS rank,
    type,
    count(*) AS oprs,
    try_cast(sum(device_time_by_end_ns) AS BIGINT) AS device_time_ns,
    try_cast(sum(host_time_by_end_ns) AS BIGINT) AS host_time_ns,
    try_cast(sum(computation_flo) AS BIGINT) AS computation_flo,
    try_cast(sum(megengine_oprs.memory_bytes) AS BIGINT) AS memory_bytes,
    1e9 * sum(megengine_oprs.computation_flo) / nullif(device_time_ns, 0) AS flo_per_s,
    1e9 * sum(megengine_oprs.memory_bytes) / nullif(device_time_ns, 0) AS bytes_per_s
FROM megengine_oprs
WHERE device_time_by_end_s IS NOT NULL OR host_time_by_end_s IS NOT NULL
GROUP BY run_id, source_id, type;
