-- Process groups of each dump of the flight recorder, with the key of the group in the run.
-- One row: a group of a dump.
-- Materialised: several relations read it.
--
-- torch may give groups of different ranks the same name. The lowest rank then tells them apart.
WITH
found AS (
    SELECT source_id, group_name AS name, group_description, ranks FROM staged_flight_groups
    UNION ALL
    SELECT source_id, name, group_description, NULL AS ranks FROM flight_entries
),

of_dumps AS (
    SELECT
        source_id,
        name,
        any_value(nullif(nullif(group_description, ''), 'undefined')) AS group_description,
        any_value(list_sort(ranks)) FILTER (WHERE len(ranks) > 0) AS own_ranks
    FROM found
    GROUP BY source_id, name
),

known AS (SELECT DISTINCT name, own_ranks AS ranks FROM of_dumps WHERE own_ranks IS NOT NULL),

alike AS (SELECT name, count(*) AS lists FROM known GROUP BY name),

placed AS (
    SELECT
        of_dumps.source_id,
        dumps.rank,
        of_dumps.name,
        of_dumps.group_description,
        any_value(coalesce(of_dumps.own_ranks, known.ranks)) AS ranks
    FROM of_dumps
    INNER JOIN staged_sources AS dumps USING (source_id)
    LEFT JOIN known
        ON of_dumps.name = known.name AND list_contains(known.ranks, dumps.rank)
    GROUP BY ALL
)

SELECT
    placed.*,
    CASE
        WHEN alike.lists > 1
            THEN concat(placed.name, ' of rank ', coalesce(placed.ranks[1], placed.rank))
        ELSE placed.name
    END AS process_group
FROM placed
LEFT JOIN alike USING (name);
