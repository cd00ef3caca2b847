-- How fast copies and sets moved data, over time.
-- One row: a moment at which the bandwidth of a kind of copy changed on a device.
--
-- Copies whose rate is unknown (`kernels.gb_per_s`), or that took no time, are left out.
--
-- run_id    the run
-- rank      rank of the process
-- device    number of the device
-- copy      kind of copy, such as `Memcpy HtoD`; or `Memset`
-- time_ns   Unix time, ns
-- dur_ns    time until the next change, ns; null at the last
-- copies    copies that run from this moment on
-- gb_per_s  what they move, in 10⁹ bytes per second
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
    -- Sums of fractions do not end at exactly 0.
    if(sum(sum(copies)) OVER so_far = 0, 0, sum(sum(gb_per_s)) OVER so_far) AS gb_per_s
FROM changes
GROUP BY run_id, rank, device, copy, time_ns
WINDOW so_far AS (PARTITION BY run_id, rank, device, copy ORDER BY time_ns);
