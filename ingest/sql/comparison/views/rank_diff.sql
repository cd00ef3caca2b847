-- The ranks of two runs side by side: `rank_diff(base, other)`. It uses the slowest device of each
-- rank (`run_metrics.is_slowest_of_rank`).
-- One row: a rank that at least one run has; and in one more row, the worst ranks of both runs.
-- There are no rows if a run has only one rank with metrics.
--
-- The wall time is that of the median step. The other times are means over the measured steps, or
-- sums over the recording if no steps were found, of `rank_summary`. Changes are the second run
-- minus the first. They are null if a side is unknown, if only one run has a device, or if steps
-- were found in only one run.
--
-- pairing                          rank: the same rank of both runs; worst: the worst rank of each
-- ordinal                          display order: 0 for the worst ranks; then ranks of both runs,
--                                  by the change of the wall time without waiting, the largest one
--                                  first; then ranks of one run
-- base_rank                        rank of the first run; null if the run lacks the rank
-- other_rank                       rank of the second run; null if the run lacks the rank
-- base_reason                      why the rank is the worst of the first run: straggler, or
--                                  slowest (longest wall time) if there is no straggler; null for
--                                  others
-- other_reason                     the same in the second run
-- base_wall_ns                     wall time in the first run, ns
-- other_wall_ns                    wall time in the second run, ns
-- change_wall_ns                   change of the wall time, ns
-- change_percent                   change of the wall time as a percentage of the first run
-- base_compute_ns                  time of computing kernels, or of operators of a host, in the
--                                  first run, ns
-- other_compute_ns                 the same in the second run, ns
-- change_compute_ns                its change, ns
-- base_waiting_ns                  time in which it waited for other ranks in matched collectives
--                                  of the first run, ns; null without such collectives
-- other_waiting_ns                 the same in the second run, ns
-- change_waiting_ns                its change, ns
-- base_is_bound                    whether its waiting in the first run is a lower bound, because a
--                                  missing rank may have come last (`collectives.is_bound`); null
--                                  if waiting is unknown
-- other_is_bound                   the same in the second run
-- base_transfer_ns                 rest of its time in matched collectives of the first run, ns;
--                                  null without such collectives
-- other_transfer_ns                the same in the second run, ns
-- change_transfer_ns               its change, ns
-- base_exposed_communication_ns    communication time while no compute kernel ran in the first run,
--                                  ns; null for a host
-- other_exposed_communication_ns   the same in the second run, ns
-- change_exposed_communication_ns  its change, ns
-- base_lateness_ns                 mean time by which it came later to matched collectives of the
--                                  first run than the first rank, ns; null without such collectives
-- other_lateness_ns                the same in the second run, ns
-- change_lateness_ns               its change, ns
CREATE MACRO rank_diff(base, other) AS TABLE
    WITH
    sums AS (
        SELECT
            run_id,
            device_id,
            coalesce(sum(compute_ns), 0) AS compute_ns,
            sum(waiting_ns) AS waiting_ns,
            sum(transfer_ns) AS transfer_ns,
            sum(exposed_communication_ns) AS exposed_communication_ns,
            sum(lateness_ns * collectives) / nullif(sum(collectives), 0) AS lateness_ns
        FROM rank_summary
        WHERE run_id IN (base, other)
        GROUP BY run_id, device_id
    ),

    bounds AS (
        SELECT
            run_id,
            device_id,
            bool_or(is_bound) AS is_bound
        FROM collectives
        WHERE run_id IN (base, other)
        GROUP BY run_id, device_id
    ),

    ranked AS (
        SELECT
            sides.side,
            metrics.rank,
            metrics.measure,
            metrics.steps_from = 'run' AS is_whole,
            coalesce(late.is_straggler, FALSE) AS is_straggler,
            bounds.is_bound,
            metrics.wall_ns,
            (sums.compute_ns / metrics.steps)::BIGINT AS compute_ns,
            (sums.waiting_ns / metrics.steps)::BIGINT AS waiting_ns,
            (sums.transfer_ns / metrics.steps)::BIGINT AS transfer_ns,
            (sums.exposed_communication_ns / metrics.steps)::BIGINT AS exposed_communication_ns,
            sums.lateness_ns::BIGINT AS lateness_ns
        FROM (VALUES ('base', base), ('other', other)) AS sides (side, run_id)
        INNER JOIN run_metrics AS metrics ON sides.run_id = metrics.run_id
        LEFT JOIN sums
            ON metrics.run_id = sums.run_id AND metrics.device_id = sums.device_id
        LEFT JOIN bounds
            ON metrics.run_id = bounds.run_id AND metrics.device_id = bounds.device_id
        LEFT JOIN stragglers AS late
            ON metrics.run_id = late.run_id AND metrics.rank = late.rank
        WHERE metrics.run_id IN (base, other) AND metrics.is_slowest_of_rank
        QUALIFY count(*) OVER (PARTITION BY sides.side) > 1
    ),

    reasons AS (
        SELECT
            *,
            CASE
                WHEN row_number() OVER (
                    PARTITION BY side ORDER BY is_straggler DESC, wall_ns DESC, ranked.rank
                ) = 1 THEN if(is_straggler, 'straggler', 'slowest')
            END AS reason
        FROM ranked
        QUALIFY count(DISTINCT side) OVER () = 2
    ),

    pairings AS (
        SELECT
            *,
            'rank' AS pairing,
            reasons.rank AS pair
        FROM reasons
        UNION ALL BY NAME
        SELECT
            *,
            'worst' AS pairing,
            0 AS pair
        FROM reasons
        WHERE reason IS NOT NULL
    ),

    first AS (
        SELECT * FROM pairings WHERE side = 'base'
    ),

    second AS (
        SELECT * FROM pairings WHERE side = 'other'
    ),

    paired AS (
        SELECT
            pairing,
            first.rank AS base_rank,
            second.rank AS other_rank,
            first.reason AS base_reason,
            second.reason AS other_reason,
            first.measure = second.measure AND first.is_whole = second.is_whole AS is_alike,
            first.wall_ns AS base_wall_ns,
            second.wall_ns AS other_wall_ns,
            if(is_alike, second.wall_ns - first.wall_ns, NULL) AS change_wall_ns,
            first.compute_ns AS base_compute_ns,
            second.compute_ns AS other_compute_ns,
            if(is_alike, second.compute_ns - first.compute_ns, NULL) AS change_compute_ns,
            first.waiting_ns AS base_waiting_ns,
            second.waiting_ns AS other_waiting_ns,
            if(is_alike, second.waiting_ns - first.waiting_ns, NULL) AS change_waiting_ns,
            first.is_bound AS base_is_bound,
            second.is_bound AS other_is_bound,
            first.transfer_ns AS base_transfer_ns,
            second.transfer_ns AS other_transfer_ns,
            if(is_alike, second.transfer_ns - first.transfer_ns, NULL) AS change_transfer_ns,
            first.exposed_communication_ns AS base_exposed_communication_ns,
            second.exposed_communication_ns AS other_exposed_communication_ns,
            if(is_alike, second.exposed_communication_ns - first.exposed_communication_ns, NULL)
                AS change_exposed_communication_ns,
            first.lateness_ns AS base_lateness_ns,
            second.lateness_ns AS other_lateness_ns,
            if(is_alike, second.lateness_ns - first.lateness_ns, NULL) AS change_lateness_ns
        FROM first
        FULL JOIN second USING (pairing, pair)
    )

    SELECT
        pairing,
        row_number() OVER (
            ORDER BY
                pairing = 'rank',
                base_rank IS NULL,
                other_rank IS NULL,
                abs(change_wall_ns - coalesce(change_waiting_ns, 0)) DESC NULLS LAST,
                coalesce(base_rank, other_rank)
        ) - 1 AS ordinal,
        base_rank,
        other_rank,
        base_reason,
        other_reason,
        base_wall_ns,
        other_wall_ns,
        change_wall_ns,
        percent_change(change_wall_ns, base_wall_ns) AS change_percent,
        COLUMNS(paired.* EXCLUDE (
            pairing, base_rank, other_rank, base_reason, other_reason, is_alike, base_wall_ns,
            other_wall_ns, change_wall_ns
        ))
    FROM paired
    ORDER BY ordinal;
