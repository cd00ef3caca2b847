-- Amount and bandwidth of data moved by each kind of copy: `copy_statistics(run, from_step,
-- to_step)`. Without a run it is about all runs, without steps about whole recordings. In steps,
-- the copies that these launched count.
-- One row: a kind of copy on a device, in these steps.
--
-- run_id, rank, device
-- copy
-- copies           number of copies
-- unsized_copies   number of copies whose size was not recorded
-- bytes            bytes moved by the copies with a recorded size; null if there are none
-- device_ns        sum of the durations of all copies, ns
-- rated_ns         sum of the durations of the copies with a known bandwidth, ns
-- gb_per_s         mean bandwidth over `rated_ns`, in 10⁹ bytes per second
-- min_gb_per_s     bandwidth of the slowest copy, in 10⁹ bytes per second
-- median_gb_per_s  median bandwidth of the copies, in 10⁹ bytes per second
-- max_gb_per_s     bandwidth of the fastest copy, in 10⁹ bytes per second
CREATE MACRO copy_statistics(run := NULL, from_step := NULL, to_step := NULL) AS TABLE
    SELECT
        run_id,
        rank,
        device,
        copy_kind(name) AS copy,
        count(*) AS copies,
        count(*) FILTER (WHERE bytes IS NULL) AS unsized_copies,
        sum(bytes)::BIGINT AS bytes,
        sum(dur_ns)::BIGINT AS device_ns,
        coalesce(sum(dur_ns) FILTER (WHERE gb_per_s IS NOT NULL), 0)::BIGINT AS rated_ns,
        sum(kernels.gb_per_s * dur_ns) / nullif(rated_ns, 0) AS gb_per_s,
        min(kernels.gb_per_s) AS min_gb_per_s,
        median(kernels.gb_per_s) AS median_gb_per_s,
        max(kernels.gb_per_s) AS max_gb_per_s
    FROM kernels
    WHERE class = 'copy' AND is_asked(run_id, step, run, from_step, to_step)
    GROUP BY ALL;
