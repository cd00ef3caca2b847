-- The steps of `tensorboard_steps` whose length is far from the median of the run, each with the
-- part that differs most. A step is far if its length differs from the median by more than 10 %,
-- and by more than three times the median of these differences over all steps. Incomplete steps do
-- not count.
-- One row: a step of an input file.
--
-- run_id, source_id, rank
-- step                number of the step (`steps.step`)
-- dur_ns              length of the step, ns
-- median_ns           median length of the run's steps (of the two middle steps, the shorter one),
--                     ns
-- difference_ns       length of the step minus the median, ns; negative if the step is shorter
-- percent             difference in percent of the median
-- part                part that differs most in the same direction: kernel, memcpy, memset,
--                     communication, runtime, data_loader, cpu or other
-- part_ns             time of this part in the step, ns
-- part_median_ns      median time of this part over the run's steps (of the two middle steps, the
--                     shorter one), ns
-- part_difference_ns  time of this part in the step minus its median, ns; negative if the step has
--                     less of it
WITH
complete_steps AS (
    SELECT
        *,
        quantile_disc(dur_ns, 0.5) OVER (PARTITION BY run_id) AS median_ns
    FROM tensorboard_steps
    WHERE is_complete
),

compared AS (
    SELECT
        *,
        dur_ns - median_ns AS difference_ns,
        quantile_disc(abs(dur_ns - median_ns), 0.5) OVER (PARTITION BY run_id) AS usual_ns
    FROM complete_steps
),

parts AS (
    SELECT *
    FROM compared UNPIVOT (
        part_ns FOR part IN (
            kernel_ns AS kernel, memcpy_ns AS memcpy, memset_ns AS memset,
            communication_ns AS communication, runtime_ns AS runtime,
            data_loader_ns AS data_loader, cpu_ns AS cpu, other_ns AS other
        )
    )
),

different AS (
    SELECT
        *,
        quantile_disc(part_ns, 0.5) OVER (PARTITION BY run_id, part) AS part_median_ns
    FROM parts
)

SELECT
    run_id,
    source_id,
    rank,
    step,
    dur_ns,
    median_ns,
    difference_ns,
    100.0 * difference_ns / nullif(median_ns, 0) AS percent,
    part,
    part_ns,
    part_median_ns,
    part_ns - part_median_ns AS part_difference_ns
FROM different
WHERE abs(difference_ns) > 0.1 * median_ns AND abs(difference_ns) > 3 * usual_ns
QUALIFY
    row_number() OVER (
        PARTITION BY run_id, source_id, step
        ORDER BY sign(difference_ns) * (part_ns - part_median_ns) DESC, part
    ) = 1
ORDER BY run_id, abs(difference_ns) DESC;
