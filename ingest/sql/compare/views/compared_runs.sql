-- What of two runs is compared: `compared_runs(base, other, rank := NULL)`. Of each run the device
-- whose median step is the longest counts; with a rank, that of the rank.
-- One row: a side of the comparison; none where a run is unknown, has no
-- metrics or lacks the rank.
--
-- side        base or other
-- run_id      the run
-- rank        rank of the process
-- device      number of the device; null where the host is measured
-- measure     device: time of device activities; host: time of operators on the host, where either
--             of the runs has no device
-- steps       number of steps
-- steps_from  how the steps were found, as in `steps`; run for a whole recording
-- source_id   input file of the step that counts; null for a whole recording
-- step        the step that counts: the median step (`steps.step`); null for a whole recording
CREATE MACRO compared_runs(base, other, rank := NULL) AS TABLE
    WITH
    chosen AS (
        SELECT
            CASE WHEN sides.ordinal = 1 THEN 'base' ELSE 'other' END AS side,
            summary.*
        FROM (VALUES (1, base), (2, other)) AS sides (ordinal, run_id)
        INNER JOIN run_metrics AS summary ON sides.run_id = summary.run_id
        WHERE
            summary.run_id IN (base, other)
            AND is_compared(rank, summary.rank, summary.is_slowest, summary.is_slowest_of_rank)
    )

    SELECT
        side,
        run_id,
        chosen.rank,
        device,
        CASE
            WHEN bool_and(measure = 'device') OVER () THEN 'device' ELSE 'host'
        END AS measure,
        steps,
        steps_from,
        source_id,
        step
    FROM chosen
    QUALIFY bool_or(side = 'base') OVER () AND bool_or(side = 'other') OVER ();
