-- Adds the process groups and the host in the metadata of source $source_id to the staged tables.
INSERT INTO staged_process_groups BY NAME
WITH listed AS (
    SELECT unnest(from_json(
        json_extract($metadata::JSON, '$.distributedInfo.pg_config'),
        '[{
            "pg_name": "VARCHAR", "pg_desc": "VARCHAR", "backend_config": "VARCHAR",
            "pg_size": "BIGINT", "ranks": ["INTEGER"]
        }]'
    )) AS config
)

SELECT
    $source_id AS source_id,
    config.pg_name AS name,
    config.pg_desc AS description,
    config.backend_config AS backend,
    within(config.pg_size, 1, 1_000_000) AS group_size,
    CASE WHEN len(config.ranks) = config.pg_size THEN list_sort(config.ranks) END AS ranks
FROM listed
WHERE config.pg_name IS NOT NULL;
