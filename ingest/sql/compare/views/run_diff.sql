-- Two runs side by side, per step: `run_diff(base, other, rank := NULL)`. Of each run the device
-- with the longest wall time counts; with a rank, that of the rank.
-- One row: a figure of `run_summaries`; those with `part` add up to figure `wall`.
--
-- figure       name of the figure, without its unit
-- unit         ns, bytes or count
-- base         in the first run; an overlap is negative, which makes it a part; null where not
--              known
-- other        in the second
-- change       second less first; what only one of them has is 0 in the other, if it is a part
-- percent      change, of the size of the first; null where that is 0
-- part         whether it is one of those that add up to the wall time, in both and in the change
-- position     order in which to show them: first the wall time, then its parts
-- base_rank    rank that was taken of the first run
-- other_rank   rank that was taken of the second
-- base_device  its device in the first; null where the host is measured
-- other_device  its device in the second
CREATE MACRO run_diff(base, other, rank := NULL) AS TABLE
    WITH
    base_figures AS (
        SELECT figures.*
        FROM step_figures AS figures
        WHERE
            figures.run_id = base
            AND if(rank IS NULL, figures.slowest, figures.rank = rank AND figures.slowest_of_rank)
    ),

    other_figures AS (
        SELECT figures.*
        FROM step_figures AS figures
        WHERE
            figures.run_id = other
            AND if(rank IS NULL, figures.slowest, figures.rank = rank AND figures.slowest_of_rank)
    ),

    sides AS (
        SELECT
            figure,
            unit,
            base_figures.value AS base_value,
            other_figures.value AS other_value,
            part,
            position,
            base_figures.rank AS base_rank,
            other_figures.rank AS other_rank,
            base_figures.device AS base_device,
            other_figures.device AS other_device
        FROM base_figures
        FULL JOIN other_figures USING (figure, unit, part, position)
    ),

    changes AS (
        SELECT
            *,
            CASE
                WHEN part AND (base_value IS NOT NULL OR other_value IS NOT NULL)
                    THEN coalesce(other_value, 0) - coalesce(base_value, 0)
                ELSE other_value - base_value
            END AS change
        FROM sides
    )

    SELECT
        figure,
        unit,
        base_value AS base,
        other_value AS other,
        change,
        100.0 * change / nullif(abs(base_value), 0) AS percent,
        part,
        position,
        base_rank,
        other_rank,
        base_device,
        other_device
    FROM changes
    ORDER BY position;
