-- The device and step of each of two runs that a comparison uses: `compared_runs(base, other, rank
-- := NULL, nth_step := NULL)`. It uses the device with the longest median step of each run, or of
-- `rank` if that is given. It uses that device's median step, or with `nth_step` its first, second,
-- … measured step.
-- One row: a side of the comparison. There are no rows if a run is unknown, has no metrics, or
-- lacks the rank or the step.
--
-- side, run_id, device_id, rank, device
-- measure     device: time of device activities; host: time of operators on the host, if either run
--             has no device
-- steps       number of steps of the run
-- steps_from  how the steps were found, as in `steps`; `run` for a whole recording
-- source_id   input file of the compared step; null for a whole recording
-- step        the compared step (`steps.step`); null for a whole recording
CREATE MACRO compared_runs(base, other, rank := NULL, nth_step := NULL) AS TABLE
    WITH
    numbered AS (
        SELECT
            found.run_id,
            found.device_id,
            found.source_id,
            found.step,
            row_number() OVER (
                PARTITION BY found.run_id, found.device_id
                ORDER BY found.start_ns, found.source_id
            ) AS nth
        FROM step_metrics AS found
        WHERE found.run_id IN (base, other) AND found.start_ns IS NOT NULL
    ),

    chosen AS (
        SELECT
            CASE WHEN sides.ordinal = 1 THEN 'base' ELSE 'other' END AS side,
            summary.*
        FROM (VALUES (1, base), (2, other)) AS sides (ordinal, run_id)
        INNER JOIN run_metrics AS summary ON sides.run_id = summary.run_id
        WHERE
            summary.run_id IN (base, other)
            AND is_compared(rank, summary.rank, summary.is_default, summary.is_slowest_of_rank)
    )

    SELECT
        chosen.side,
        chosen.run_id,
        chosen.device_id,
        chosen.rank,
        chosen.device,
        CASE
            WHEN bool_and(chosen.measure = 'device') OVER () THEN 'device' ELSE 'host'
        END AS measure,
        chosen.steps,
        chosen.steps_from,
        if(nth_step IS NULL, chosen.source_id, numbered.source_id) AS source_id,
        if(nth_step IS NULL, chosen.step, numbered.step) AS step
    FROM chosen
    LEFT JOIN numbered
        ON
            chosen.run_id = numbered.run_id
            AND chosen.device_id = numbered.device_id
            AND numbered.nth = nth_step
    WHERE nth_step IS NULL OR numbered.nth IS NOT NULL
    QUALIFY bool_or(chosen.side = 'base') OVER () AND bool_or(chosen.side = 'other') OVER ();
