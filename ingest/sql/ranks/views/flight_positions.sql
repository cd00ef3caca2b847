-- How far each rank is in the collectives of its process groups, by dumps of the flight recorder.
-- One row: a rank of a process group.
--
-- run_id, process_group, group_description
-- rank                  rank in the job. If the ranks of a group are not recorded, as with gloo,
--                       the default group has all ranks of the job, and another group those that
--                       used it
-- missing_reason        why the rank has no dump: `no dump` or `unreadable`; null if it has one
-- last_enqueued_seq     number of the last collective that the rank enqueued; null if there is none
-- last_started_seq      number of the last one that started; null if there is none, and with gloo
-- last_completed_seq    number of the last one that is done; null if there is none
-- first_unfinished_seq  number of the first one in the dump that is not done; null if all are done
-- first_recorded_seq    number of the first one in the dump: earlier ones may be lost
WITH
used AS (
    SELECT run_id, source_id, rank FROM flight_dumps WHERE is_latest
),

unreadable AS (SELECT DISTINCT run_id, rank FROM flight_dumps WHERE NOT is_readable),

jobs AS (
    SELECT
        used.run_id,
        greatest(any_value(runs.world_size), max(used.rank) + 1) AS size
    FROM used
    INNER JOIN runs USING (run_id)
    GROUP BY used.run_id
),

kept AS (
    SELECT stored.* FROM flight_groups AS stored INNER JOIN used USING (run_id, source_id)
),

named AS (
    SELECT
        run_id,
        process_group,
        any_value(group_description) AS group_description,
        any_value(member_ranks) AS ranks,
        list(DISTINCT rank) AS users
    FROM kept
    GROUP BY run_id, process_group
),

members AS (
    SELECT
        named.run_id,
        named.process_group,
        named.group_description,
        unnest(CASE
            WHEN named.ranks IS NOT NULL THEN named.ranks
            WHEN is_default_group(named.process_group, named.group_description)
                THEN range(jobs.size)::INTEGER[]
            ELSE named.users
        END) AS rank
    FROM named
    INNER JOIN jobs USING (run_id)
),

positions AS (
    SELECT
        calls.run_id,
        calls.process_group,
        calls.rank,
        max(calls.collective_seq) AS last_enqueued_seq,
        max(calls.collective_seq) FILTER (
            WHERE NOT calls.is_p2p AND calls.state IN ('started', 'completed')
        ) AS last_started_seq,
        max(calls.collective_seq) FILTER (WHERE NOT calls.is_p2p AND calls.is_done)
            AS last_completed_seq,
        min(calls.collective_seq) FILTER (WHERE NOT calls.is_p2p AND NOT calls.is_done)
            AS first_unfinished_seq,
        min(calls.collective_seq) FILTER (WHERE NOT calls.is_p2p) AS first_recorded_seq
    FROM flight_records AS calls
    WHERE calls.is_used
    GROUP BY calls.run_id, calls.process_group, calls.rank
)

SELECT
    members.run_id,
    members.process_group,
    members.group_description,
    members.rank,
    CASE
        WHEN used.source_id IS NOT NULL THEN NULL
        WHEN unreadable.rank IS NOT NULL THEN 'unreadable'
        ELSE 'no dump'
    END AS missing_reason,
    -- A dump without calls of the group has only the figures of torch.
    coalesce(positions.last_enqueued_seq, kept.last_enqueued) AS last_enqueued_seq,
    coalesce(
        positions.last_started_seq,
        CASE WHEN positions.rank IS NULL THEN kept.last_started END
    ) AS last_started_seq,
    coalesce(
        positions.last_completed_seq,
        CASE WHEN positions.rank IS NULL THEN kept.last_completed END
    ) AS last_completed_seq,
    positions.first_unfinished_seq,
    positions.first_recorded_seq
FROM members
LEFT JOIN used USING (run_id, rank)
LEFT JOIN unreadable USING (run_id, rank)
LEFT JOIN kept USING (run_id, process_group, rank)
LEFT JOIN positions USING (run_id, process_group, rank);
