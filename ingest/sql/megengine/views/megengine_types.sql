-- Operators of MegEngine by their type: time on device and host, what they compute and move.
-- One row: a type of operators of a file.
--
-- run_id           the run
-- source_id        the input file
-- rank             rank of the process
-- type             kind of the operators
-- oprs             operators of the type that have a time
-- device_time_ns   sum of their times by end on comp nodes, ns; null without such a time
-- host_time_ns     sum of their times by end on the host, ns; null without such a time
-- computation_flo  sum of their operations; null where none were counted
-- memory_bytes     sum of the bytes that they read and write
-- flo_per_s        operations per second of `device_time_ns`; null where that is 0
-- bytes_per_s      bytes per second of it; null where that is 0
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
