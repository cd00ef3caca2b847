-- Launch configurations of each kernel, with the device time of each.
-- One row: a grid and block with which a kernel was launched, or a size that was copied or set, on
-- one device of one rank.
--
-- run_id
-- name       name of the kernel, copy or memset
-- rank, device
-- grid       number of thread blocks in x, y and z; null if the trace does not record it
-- block, registers, shared_bytes
-- bytes      bytes moved by a copy or memset
-- calls      number of device activities
-- device_ns  sum of the durations, ns
-- percent    share of the kernel's device time on that device, 0 to 100
-- mean_ns
SELECT
    run_id,
    name,
    rank,
    device,
    grid,
    block,
    registers,
    shared_bytes,
    bytes,
    count(*) AS calls,
    sum(dur_ns)::BIGINT AS device_ns,
    100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER in_kernel, 0) AS percent,
    avg(dur_ns) AS mean_ns
FROM kernels
GROUP BY run_id, name, rank, device, grid, block, registers, shared_bytes, bytes
WINDOW in_kernel AS (PARTITION BY run_id, name, rank, device);
