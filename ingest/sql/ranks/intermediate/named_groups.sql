-- Process groups as each input file names them.
-- One row: a name of a group in a file. `ranks` is null if the file does not have the whole list.
-- Materialised: several relations read it.
WITH listed AS (
    SELECT source_id, name, description, backend, group_size, ranks
    FROM staged_process_groups
    UNION ALL BY NAME
    SELECT DISTINCT
        source_id,
        group_name AS name,
        group_description AS description,
        group_size,
        group_ranks AS ranks
    FROM staged_collectives
    WHERE group_name IS NOT NULL
)

SELECT
    source_id,
    name,
    max(description) AS description,
    max(backend) AS backend,
    max(group_size) AS group_size,
    max(ranks) AS ranks
FROM listed
GROUP BY source_id, name;
