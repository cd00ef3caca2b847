-- Part of `imbalance` and `rank_divergence`: the ranks that are expected to do the same work.
-- One row: a rank of a run of several ranks.
--
-- The ranks of a data-parallel group do the same work. In runs without such groups, ranks at the
-- same place of their pipelines do, and without pipelines all ranks. Groups of one rank don't
-- count.
--
-- run_id, rank
-- lowest_peer  lowest rank that does the same work: the same number on all of them
WITH
grouped AS (
    SELECT run_id, process_group_id, kind, member_ranks, unnest(member_ranks) AS rank
    FROM process_groups
    WHERE kind IN ('data', 'pipeline') AND len(member_ranks) > 1
),

-- A rank can be in several data-parallel groups, for example with and without context parallelism.
-- The largest one counts.
shares AS (
    SELECT
        run_id,
        rank,
        arg_min(
            if(kind = 'data', process_group_id, -list_position(member_ranks, rank)),
            (kind, -len(member_ranks), process_group_id)
        ) AS share
    FROM grouped
    GROUP BY run_id, rank
),

traced AS (
    SELECT run_id, rank
    FROM steps
    GROUP BY run_id, rank
    QUALIFY count(*) OVER (PARTITION BY run_id) > 1
)

SELECT
    traced.run_id,
    traced.rank,
    min(traced.rank) OVER (PARTITION BY traced.run_id, shares.share) AS lowest_peer
FROM traced
LEFT JOIN shares ON traced.run_id = shares.run_id AND traced.rank = shares.rank;
