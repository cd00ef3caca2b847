-- How often each rank comes last to collectives, and what that costs.
-- One row: a rank with matched collectives in measured steps.
-- Start here: Which rank makes the others wait?
--
-- A rank is late in a collective if it comes last by more than the spread of the ends and the
-- uncertainty of clocks (`collectives.is_last`). It costs the time from the next rank to its own
-- start. A rank is the straggler of its run if it costs more than the others, and if its share of
-- the cost of all ranks is larger than chance explains: by three standard errors of as many
-- collectives of equal cost as vary like these.
--
-- run_id, rank
-- collectives       number of matched collectives
-- last_collectives  number of those in which it came last
-- last_percent      their share, percent
-- late_ns           median time by which it then came later than the next rank, ns; null if it
--                   never came last
-- steps             number of measured steps; null if none were found
-- cost_ns           sum of these times by the number of measured steps, ns: how much earlier a step
--                   could end; of the whole recording if no steps were found
-- cost_percent      its share of the cost of all ranks, percent; null if no rank was late
-- waiting_ns        time for which it waited for others, by the number of steps, ns
-- is_straggler      whether it is the straggler of the run
WITH
measured AS NOT MATERIALIZED (
    SELECT run_id, source_id, metrics.rank, device_id, step
    FROM step_metrics AS metrics
    WHERE start_ns IS NOT NULL
),

compared AS (
    SELECT
        calls.*,
        -- The next rank is the last of the others.
        max(corrected_start_ns, 2) OVER (
            PARTITION BY calls.run_id, process_group_id, cycle, ordinal, kind
        ) AS latest
    FROM collectives AS calls
    WHERE is_last IS NOT NULL AND peer_rank IS NULL
),

steps_of_ranks AS (
    SELECT run_id, measured.rank, count(DISTINCT step) AS steps
    FROM measured
    GROUP BY run_id, measured.rank
),

sums AS (
    SELECT
        compared.run_id,
        compared.rank,
        count(*) AS collectives,
        count(*) FILTER (WHERE is_last) AS last_collectives,
        median(corrected_start_ns - latest[2]) FILTER (WHERE is_last)::BIGINT AS late_ns,
        coalesce(sum(corrected_start_ns - latest[2]) FILTER (WHERE is_last), 0)::DOUBLE AS cost,
        coalesce(sum(pow(corrected_start_ns - latest[2], 2)) FILTER (WHERE is_last), 0)
            AS squares,
        sum(wait_ns) AS wait_sum_ns,
        avg(1 / ranks) AS chance
    FROM compared
    INNER JOIN measured USING (run_id, source_id, device_id)
    WHERE compared.step IS NOT DISTINCT FROM measured.step
    GROUP BY compared.run_id, compared.rank
),

shares AS (
    SELECT
        *,
        cost / nullif(sum(cost) OVER of_run, 0) AS share,
        pow(sum(cost) OVER of_run, 2) / nullif(sum(squares) OVER of_run, 0) AS equal_calls,
        row_number() OVER (PARTITION BY run_id ORDER BY cost DESC, sums.rank) AS place
    FROM sums
    WINDOW of_run AS (PARTITION BY run_id)
)

SELECT
    shares.run_id,
    shares.rank,
    shares.collectives,
    shares.last_collectives,
    100 * shares.last_collectives / shares.collectives AS last_percent,
    shares.late_ns,
    nullif(steps.steps, 0) AS steps,
    round(shares.cost / greatest(steps.steps, 1))::BIGINT AS cost_ns,
    100 * shares.share AS cost_percent,
    round(shares.wait_sum_ns / greatest(steps.steps, 1))::BIGINT AS waiting_ns,
    coalesce(
        shares.place = 1
        AND shares.share
        > shares.chance + 3 * sqrt(shares.chance * (1 - shares.chance) / shares.equal_calls),
        FALSE
    ) AS is_straggler
FROM shares
LEFT JOIN steps_of_ranks AS steps ON shares.run_id = steps.run_id AND shares.rank = steps.rank;
