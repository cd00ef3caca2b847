-- Bandwidth of copies and memsets over time.
-- One row: a time at which the bandwidth of a kind of copy changed on a device.
--
-- Copies with unknown bandwidth (`kernels.gb_per_s`) or a duration of 0 are left out.
--
-- run_id    the run
-- rank      rank of the process
-- device    number of the device
-- copy      kind of copy, for example `Memcpy HtoD` or `Memset`
-- time_ns   Unix time, ns
-- dur_ns    time until the next change, ns; null for the last row
-- copies    number of copies that run until the next change
-- gb_per_s  total bandwidth of the running copies, in 10⁹ bytes per second
WITH changes AS (
    SELECT
        run_id,
        rank,
        device,
        copy_kind(name) AS copy,
        unnest([start_ns, start_ns + dur_ns]) AS time_ns,
        unnest([1, -1]) AS copies,
        unnest([gb_per_s, -gb_per_s]) AS gb_per_s
    FROM kernels
    WHERE class = 'copy' AND dur_ns > 0 AND gb_per_s IS NOT NULL
)

SELECT
    run_id,
    rank,
    device,
    copy,
    time_ns,
    lead(time_ns) OVER so_far - time_ns AS dur_ns,
    (sum(sum(copies)) OVER so_far)::BIGINT AS copies,
    -- Because of rounding, sums of fractions may not return to exactly 0.
    if(sum(sum(copies)) OVER so_far = 0, 0, sum(sum(gb_per_s)) OVER so_far) AS gb_per_s
FROM changes
GROUP BY run_id, rank, device, copy, time_ns
WINDOW so_far AS (PARTITION BY run_id, rank, device, copy ORDER BY time_ns);
