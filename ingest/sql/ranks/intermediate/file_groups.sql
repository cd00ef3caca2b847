-- The process groups of each input file.
-- One row: a name of a group in a file. `process_group_id` numbers the groups of the run, which
-- have the same name and the same ranks in each file.
-- Materialised: several relations read it.
SELECT
    source_id,
    name,
    description,
    backend,
    group_size,
    ranks,
    dense_rank() OVER (
        ORDER BY try_cast(name AS BIGINT), name, ranks, group_size
    ) AS process_group_id
FROM named_groups;
