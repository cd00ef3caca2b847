-- Statistics of the durations of each kernel: `kernel_statistics(run, from_step, to_step, top)`.
-- With `top`, each class has that many rows for its longest kernels and one row for the others.
-- Without a run it is about all runs, without steps about whole recordings. In steps, the
-- activities that these launched count.
-- One row: a kernel, copy or memset by name, on a device, in these steps.
--
-- run_id, rank, device, class
-- name       name of the kernel as recorded, or description of the copy; null for the row of all
--            others after the first `top`
-- names      number of different names in the row
-- calls      number of activities
-- total_ns   sum of the durations, ns
-- percent    share of the device's activities by total duration, 0 to 100
-- min_ns
-- median_ns  median duration, ns
-- mean_ns, max_ns
-- stddev_ns  standard deviation of the durations, ns; null for a single activity
CREATE MACRO kernel_statistics(
    run := NULL, from_step := NULL, to_step := NULL, top := NULL
) AS TABLE
    WITH
    summed AS (
        SELECT
            *,
            sum(dur_ns) OVER (PARTITION BY run_id, rank, device, class, name) AS name_ns
        FROM kernels
        WHERE is_asked(run_id, step, run, from_step, to_step)
    ),

    numbered AS (
        SELECT
            *,
            dense_rank() OVER (
                PARTITION BY run_id, rank, device, class ORDER BY name_ns DESC, name
            ) AS ordinal
        FROM summed
    ),

    named AS (
        SELECT *, CASE WHEN top IS NULL OR ordinal <= top THEN name END AS shown FROM numbered
    )

    SELECT
        run_id,
        rank,
        device,
        class,
        shown AS name,
        count(DISTINCT name) AS names,
        count(*) AS calls,
        sum(dur_ns)::BIGINT AS total_ns,
        100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER on_device, 0) AS percent,
        min(dur_ns) AS min_ns,
        median(dur_ns) AS median_ns,
        avg(dur_ns) AS mean_ns,
        max(dur_ns) AS max_ns,
        stddev_samp(dur_ns) AS stddev_ns
    FROM named
    GROUP BY run_id, rank, device, class, shown
    WINDOW on_device AS (PARTITION BY run_id, rank, device);
