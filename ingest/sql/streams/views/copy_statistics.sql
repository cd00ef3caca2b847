-- How much each kind of copy moved, and how fast: `copy_statistics(by_step)`.
-- One row: a kind of copy on a device, in the whole recording or in a step.
--
-- run_id           the run
-- rank             rank of the process
-- device           number of the device
-- step             step that launched them (`steps.step`);
--                  null outside steps, and without `by_step`
-- copy             kind of copy, such as `Memcpy HtoD`; or `Memset`
-- copies           number of copies
-- unsized_copies   of those, copies whose size was not recorded
-- bytes            what the others moved, bytes; null when all are unsized
-- device_ns        sum of the durations of all, ns
-- rated_ns         of that, of copies whose rate is known, ns
-- gb_per_s         the mean rate of these while they ran, in 10⁹ bytes per second
-- min_gb_per_s     the slowest copy's
-- median_gb_per_s  the median of the copies
-- max_gb_per_s     the fastest copy's
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
