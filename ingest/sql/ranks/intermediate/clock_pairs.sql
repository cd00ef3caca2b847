-- How far the clocks of two ranks or hosts differ, from the ends of collectives that end on all
-- ranks at the same time.
-- One row: two clocks with such a collective in common. The difference is
-- `offset_ns + slope * (time - middle_ns)`; `slope` is 0 unless it is significant. Times are of the
-- first clock, relative to the first collective of the run (`zero_ns`).
-- Materialised: several relations read it.
--
-- All-to-alls of unequal sizes do not end together.
WITH
zero AS (SELECT min(start_ns) AS zero_ns FROM matched_collectives),

ends AS (
    SELECT
        process_group_id,
        cycle,
        ordinal,
        clock,
        median(start_ns + dur_ns - zero.zero_ns) AS end_ns,
        min(rank) AS first_rank
    FROM matched_collectives
    CROSS JOIN zero
    WHERE unmatched_reason IS NULL AND ends_together(kind) AND NOT has_splits
    GROUP BY process_group_id, cycle, ordinal, clock
),

firsts AS (
    SELECT process_group_id, cycle, arg_min(clock, first_rank) AS clock
    FROM ends
    GROUP BY process_group_id, cycle
),

differences AS (
    SELECT
        first.clock AS from_clock,
        other.clock AS to_clock,
        first.end_ns AS at_ns,
        other.end_ns - first.end_ns AS difference_ns,
        ntile(3) OVER (
            PARTITION BY first.clock, other.clock
            ORDER BY first.end_ns, process_group_id, cycle, ordinal
        ) AS third
    FROM firsts
    INNER JOIN ends AS first USING (process_group_id, cycle, clock)
    INNER JOIN ends AS other USING (process_group_id, cycle, ordinal)
    WHERE other.clock <> first.clock
),

-- A line through the medians of the first and the last third is hardly moved by outliers.
rough AS (
    SELECT
        from_clock,
        to_clock,
        median(difference_ns) FILTER (WHERE third = 1) AS first_ns,
        median(difference_ns) FILTER (WHERE third = 3) AS last_ns,
        median(at_ns) FILTER (WHERE third = 1) AS first_at_ns,
        median(at_ns) FILTER (WHERE third = 3) AS last_at_ns,
        count(*) < 12 AS are_few,
        if(are_few, 0, (last_ns - first_ns) / nullif(last_at_ns - first_at_ns, 0)) AS slope
    FROM differences
    GROUP BY from_clock, to_clock
),

levelled AS (
    SELECT
        differences.*,
        are_few,
        difference_ns - coalesce(slope, 0) * at_ns AS level_ns
    FROM differences
    INNER JOIN rough USING (from_clock, to_clock)
),

centred AS (
    SELECT
        from_clock,
        to_clock,
        median(level_ns) AS level_ns,
        mad(level_ns) AS spread_ns
    FROM levelled
    GROUP BY from_clock, to_clock
),

fitted AS (
    SELECT
        from_clock,
        to_clock,
        bool_or(are_few) AS are_few,
        count(*) AS collectives,
        avg(at_ns) AS middle_ns,
        avg(difference_ns) AS offset_ns,
        regr_slope(difference_ns, at_ns) AS slope,
        regr_sxx(difference_ns, at_ns) AS squares
    FROM levelled
    INNER JOIN centred USING (from_clock, to_clock)
    -- A few have no outliers.
    WHERE are_few OR abs(levelled.level_ns - centred.level_ns) <= 3 * 1.4826 * spread_ns + 1
    GROUP BY from_clock, to_clock
),

spread AS (
    SELECT
        from_clock,
        to_clock,
        greatest(
            if(
                bool_or(are_few),
                stddev_samp(difference_ns),
                1.4826
                * mad(difference_ns - offset_ns - coalesce(slope, 0) * (at_ns - middle_ns))
            ),
            1
        ) AS deviation_ns
    FROM differences
    INNER JOIN fitted USING (from_clock, to_clock)
    GROUP BY from_clock, to_clock
)

SELECT
    from_clock,
    to_clock,
    zero.zero_ns,
    collectives,
    middle_ns,
    offset_ns,
    if(
        NOT are_few
        -- No clock drifts by 0.1 %.
        AND abs(slope) BETWEEN 3 * deviation_ns / sqrt(nullif(squares, 0)) AND 1e-3,
        slope,
        0
    ) AS slope,
    deviation_ns,
    -- Fewer than three collectives do not show how much they vary, and few show too little.
    if(collectives < 3, NULL, 3 * (1 + 3 / collectives) * deviation_ns) AS error_ns,
    error_ns / sqrt(collectives) AS uncertainty_ns,
    error_ns / sqrt(nullif(squares, 0)) AS uncertainty_slope
FROM fitted
INNER JOIN spread USING (from_clock, to_clock)
CROSS JOIN zero;
