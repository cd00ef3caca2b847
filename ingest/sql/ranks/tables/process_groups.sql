-- Process groups of torch.distributed: the ranks that communicate with each other.
-- One row: a group of the run. Groups with the same name and other ranks are other groups.
--
-- run_id
-- process_group_id
-- name           name in torch: a number, or the name that the program gave
-- description    `default_pg`, or the description that the program gave
-- kind           how the work is divided among the ranks, from name and description: tensor, data,
--                pipeline, expert or context, or default for the group of all ranks; null if they
--                do not say it
-- backend        such as `cuda:nccl`; null if not recorded
-- group_size     number of ranks
-- member_ranks   the ranks, in ascending order; null if no file has the whole list
-- missing_ranks  ranks of the group without a trace in the run; null if its ranks are unknown
WITH
listed AS (
    SELECT
        process_group_id,
        any_value(name) AS name,
        max(description) AS description,
        max(backend) AS backend,
        max(group_size) AS group_size,
        any_value(ranks) AS member_ranks
    FROM file_groups
    GROUP BY process_group_id
),

recorded AS (
    SELECT list(DISTINCT rank) AS traced_ranks FROM steps
)

SELECT
    process_group_id,
    name,
    description,
    group_kind(name, description) AS kind,
    backend,
    group_size,
    member_ranks,
    list_filter(member_ranks, LAMBDA member: NOT list_contains(traced_ranks, member))
        AS missing_ranks
FROM listed
CROSS JOIN recorded
ORDER BY process_group_id;
