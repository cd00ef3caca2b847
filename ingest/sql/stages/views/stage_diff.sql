-- Two runs compared by the stages of their pipelines: `stage_diff(base, other, rank := NULL)`. Each
-- run is represented by one call: on the device that `compared_runs` selects, the median call of
-- the pipeline whose median call is longest.
-- One row: at level `call`, the call; at level `stage`, a stage; at level `block`, a block class in
-- a stage. In both runs and in the change, the stages add up to the call and the blocks to the
-- stage. There are no rows if a run has no pipeline calls.
--
-- level              call, stage or block
-- stage              `encode`, `denoise`, `decode`, or `other` for code outside these stages; null
--                    at level `call`
-- block_class
-- ordinal            order in which to show the stages, from 1; 0 for the call
-- base_ns            time on the device in the first run, ns; null at level `block` if the run has
--                    no labels of blocks in the stage, for example because the denoiser is compiled
--                    as a whole
-- other_ns           time on the device in the second run, ns; null at level `block` if the run has
--                    no labels of blocks in the stage
-- change_ns          second run minus first, ns
-- percent            change as a percentage of the first run; null if that is 0
-- base_idle_ns       idle time between activities in the first run, ns; a part of `base_ns`
-- other_idle_ns      idle time between activities in the second run, ns; a part of `other_ns`
-- base_host_ns       time on the calling thread in the first run, ns
-- other_host_ns      time on the calling thread in the second run, ns
-- base_occurrences   number of occurrences in the first run, as in `stage_summary`
-- other_occurrences  number of occurrences in the second run, as in `stage_summary`
-- base_peak_bytes    peak of memory in use during it in the first run, bytes; null if not recorded
-- other_peak_bytes   peak of memory in use during it in the second run, bytes; null if not recorded
CREATE MACRO stage_diff(base, other, rank := NULL) AS TABLE
    WITH
    chosen AS (
        SELECT sides.side, calls.run_id, calls.device_id, calls.pipeline
        FROM compared_runs(base, other, rank := rank) AS sides
        INNER JOIN stage_calls AS calls
            ON sides.run_id = calls.run_id AND sides.device_id = calls.device_id
        WHERE calls.run_id IN (base, other) AND calls.is_median
        QUALIFY
            row_number() OVER (
                PARTITION BY sides.side ORDER BY calls.wall_ns DESC, calls.pipeline
            ) = 1
    ),

    summaries AS (
        SELECT chosen.side, summary.*
        FROM chosen
        INNER JOIN stage_summary AS summary USING (run_id, device_id, pipeline)
        WHERE
            summary.run_id IN (base, other)
            AND (SELECT count(DISTINCT sides.side) FROM chosen AS sides) = 2
    ),

    paired AS (
        SELECT
            level,
            stage,
            block_class,
            ordinal,
            bool_or(level <> 'block' OR count(*) FILTER (WHERE side = 'base') > 0)
                OVER in_stage AS is_in_base,
            bool_or(level <> 'block' OR count(*) FILTER (WHERE side = 'other') > 0)
                OVER in_stage AS is_in_other,
            if(is_in_base, coalesce(sum(wall_ns) FILTER (WHERE side = 'base'), 0), NULL)::BIGINT
                AS base_ns,
            if(is_in_other, coalesce(sum(wall_ns) FILTER (WHERE side = 'other'), 0), NULL)::BIGINT
                AS other_ns,
            if(is_in_base, coalesce(sum(idle_ns) FILTER (WHERE side = 'base'), 0), NULL)::BIGINT
                AS base_idle_ns,
            if(is_in_other, coalesce(sum(idle_ns) FILTER (WHERE side = 'other'), 0), NULL)::BIGINT
                AS other_idle_ns,
            if(is_in_base, coalesce(sum(host_ns) FILTER (WHERE side = 'base'), 0), NULL)::BIGINT
                AS base_host_ns,
            if(is_in_other, coalesce(sum(host_ns) FILTER (WHERE side = 'other'), 0), NULL)::BIGINT
                AS other_host_ns,
            max(occurrences) FILTER (WHERE side = 'base') AS base_occurrences,
            max(occurrences) FILTER (WHERE side = 'other') AS other_occurrences,
            max(peak_bytes) FILTER (WHERE side = 'base') AS base_peak_bytes,
            max(peak_bytes) FILTER (WHERE side = 'other') AS other_peak_bytes
        FROM summaries
        GROUP BY level, stage, block_class, ordinal
        WINDOW in_stage AS (PARTITION BY level, stage)
    )

    SELECT
        level,
        stage,
        block_class,
        ordinal,
        base_ns,
        other_ns,
        other_ns - base_ns AS change_ns,
        percent_change(other_ns - base_ns, base_ns) AS percent,
        * EXCLUDE (
            level, stage, block_class, ordinal, base_ns, other_ns, is_in_base, is_in_other
        )
    FROM paired
    ORDER BY ordinal, level DESC, greatest(base_ns, other_ns) DESC;
