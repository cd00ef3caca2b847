-- Amount and bandwidth of data moved by each kind of copy: `copy_statistics(by_step)`.
-- One row: a kind of copy on a device, in the whole recording or in a step.
--
-- run_id, rank, device
-- step             step in which the activities were launched (`steps.step`); null outside steps,
--                  and without `by_step`
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
CREATE MACRO copy_statistics(by_step := FALSE) AS TABLE
    SELECT
        run_id,
        rank,
        device,
        if(by_step, step, NULL) AS step,
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
    WHERE class = 'copy'
    GROUP BY ALL;
