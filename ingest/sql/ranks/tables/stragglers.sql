-- How often each rank comes last to collectives, and what that costs.
-- One row: a rank with matched collectives in measured steps.
-- Start here: Which rank makes the others wait?
-- Materialised: `run_metrics` and its file are made from it.
--
-- A rank is late in a collective if it comes last, and later than the next rank by more than the
-- spread of the ends and the uncertainty of clocks. It costs this time (`collectives.late_ns`).
-- A rank is the straggler of its run if it costs more than the others, and if its share of the
-- cost of all ranks is larger than chance explains: by three standard errors of as many
-- collectives of equal cost as vary like these.
--
-- run_id, rank
-- collectives       number of matched collectives
-- last_collectives  number of those in which it was late
-- last_percent      their share, percent
-- late_ns           median time by which it then came later than the next rank, ns; null if it
--                   never was late
-- steps             number of measured steps; null if none were found
-- cost_ns           sum of these times by the number of measured steps, ns: how much earlier a step
--                   could end; of the whole recording if no steps were found
-- cost_percent      its share of the cost of all ranks, percent; null if no rank was late
-- waiting_ns        time for which it waited for others, by the number of steps, ns
-- is_straggler      whether it is the straggler of the run
WITH
measured AS NOT MATERIALIZED (
    SELECT source_id, metrics.rank, device_id, step
    FROM step_metrics AS metrics
    WHERE start_ns IS NOT NULL
),

steps_of_ranks AS (
    SELECT measured.rank, count(DISTINCT row(source_id, step)) AS steps
    FROM measured
    GROUP BY measured.rank
),

sums AS (
    SELECT
        calls.rank,
        count(*) AS collectives,
        count(late_ns) AS last_collectives,
        median(late_ns)::BIGINT AS late_ns,
        coalesce(sum(late_ns), 0)::DOUBLE AS cost,
        coalesce(sum(pow(late_ns, 2)), 0) AS squares,
        sum(wait_ns) AS wait_sum_ns,
        avg(1 / ranks) AS chance
    FROM collectives AS calls
    INNER JOIN measured USING (source_id, device_id)
    WHERE
        calls.step IS NOT DISTINCT FROM measured.step
        AND is_last IS NOT NULL
        AND peer_rank IS NULL
    GROUP BY calls.rank
),

shares AS (
    SELECT
        *,
        cost / nullif(sum(cost) OVER (), 0) AS share,
        pow(sum(cost) OVER (), 2) / nullif(sum(squares) OVER (), 0) AS equal_calls,
        row_number() OVER (ORDER BY cost DESC, sums.rank) AS place
    FROM sums
)

SELECT
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
LEFT JOIN steps_of_ranks AS steps ON shares.rank = steps.rank
ORDER BY shares.rank;
