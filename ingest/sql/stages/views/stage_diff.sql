-- Two runs by the stages of their pipelines: `stage_diff(base, other, rank := NULL)`. Of each run
-- the device that `compared_runs` names counts, of that the pipeline with the longest median call,
-- and of that this call.
-- One row: with level `call`, the call; with level `stage`, a stage; these add up to the call in
-- both, and in the change. With level `block`, a class of blocks in a stage; these add up to the
-- stage. No rows where a run has no calls of pipelines.
--
-- level              call, stage or block
-- stage              `encode`, `denoise`, `decode`, or `other` for code in none of these; null for
--                    the call
-- block_class        with level `block`, the class; null for what is in no block
-- ordinal            order in which to show the stages, from 1; 0 for the call
-- base_ns            time on the device in the first run, ns; with level `block`, null where the
--                    stage has no marks of blocks, as of a denoiser that is compiled as a whole
-- other_ns           in the second
-- change_ns          second less first
-- percent            change, of the first; null where that is 0
-- base_idle_ns       of this time, idle time between activities in the first run, ns
-- other_idle_ns      in the second
-- base_host_ns       time on the thread of the call in the first run, ns
-- other_host_ns      in the second
-- base_occurrences   how often in the first run, as in `stage_summary`
-- other_occurrences  in the second
-- base_peak_bytes    the most memory in use meanwhile in the first run, bytes; null where not
--                    recorded
-- other_peak_bytes   in the second
CREATE MACRO stage_diff(base, other, rank := NULL) AS TABLE
    WITH
    chosen AS (
        SELECT sides.side, calls.run_id, calls.rank, calls.device, calls.pipeline
        FROM compared_runs(base, other, rank := rank) AS sides
        INNER JOIN stage_calls AS calls
            ON
                sides.run_id = calls.run_id
                AND sides.rank = calls.rank
                AND sides.device IS NOT DISTINCT FROM calls.device
        WHERE calls.run_id IN (base, other) AND calls.is_median
        QUALIFY
            row_number() OVER (
                PARTITION BY sides.side ORDER BY calls.wall_ns DESC, calls.pipeline
            ) = 1
    ),

    found AS (
        SELECT chosen.side, summary.*
        FROM chosen
        INNER JOIN stage_summary AS summary
            ON
                chosen.run_id = summary.run_id
                AND chosen.rank = summary.rank
                AND chosen.device IS NOT DISTINCT FROM summary.device
                AND chosen.pipeline = summary.pipeline
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
        FROM found
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
