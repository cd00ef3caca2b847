-- Bandwidth of copies and memsets over time.
-- One row: a time at which the bandwidth of a kind of copy changed on a device.
--
-- Copies with unknown bandwidth (`kernels.gb_per_s`) or a duration of 0 are left out.
--
-- run_id, device_id, rank, device, copy, time_ns
-- dur_ns    time until the next change, ns; null for the last row
-- copies    number of copies that run until the next change
-- gb_per_s  total bandwidth of the running copies, in 10⁹ bytes per second
WITH activities AS (
    SELECT
        run_id,
        struct_pack(device_id, rank, device, copy := copy_kind(name)) AS lane,
        start_ns,
        start_ns + dur_ns AS end_ns,
        1 AS copies,
        gb_per_s
    FROM kernels
    WHERE class = 'copy' AND dur_ns > 0 AND gb_per_s IS NOT NULL
)

SELECT
    run_id,
    lane.*,
    start_ns AS time_ns,
    end_ns - start_ns AS dur_ns,
    copies::BIGINT AS copies,
    -- Because of rounding, sums of fractions may not return to exactly 0.
    if(copies = 0, 0, gb_per_s) AS gb_per_s
FROM swept('activities');
