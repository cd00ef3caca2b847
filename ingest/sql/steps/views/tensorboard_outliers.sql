-- The steps of `tensorboard_steps` that are far from the run's median step, each with the part that
-- differs most. A step is far where its length differs from the median by more than a tenth, and by
-- more than three times the median of all steps' differences. Steps that are not complete do not
-- count.
-- One row: a step of an input file.
--
-- run_id              the run
-- source_id           the input file
-- rank                rank of the process
-- step                number of the step (`steps.step`)
-- dur_ns              its length, ns
-- median_ns           median length of the run's steps, of two in the middle the shorter, ns
-- difference_ns       by how much it is longer than that, ns; negative where it is shorter
-- percent             the same in percent of the median
-- part                the part that differs most in the same direction: kernel, memcpy, memset,
--                     communication, runtime, data_loader, cpu or other
-- part_ns             this part of the step, ns
-- part_median_ns      its median over the run's steps, of two in the middle the shorter, ns
-- part_difference_ns  by how much the step has more of it, ns; negative where it has less
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
