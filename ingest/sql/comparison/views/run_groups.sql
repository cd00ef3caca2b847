-- Selectors that name several runs at once in `ingest diff` and on page Compare.
-- One row: a run, and a selector that matches it.
--
-- run_id
-- kind      kind of selector: model, name, tag (key and value) or tag word (key or value)
-- selector  the selector: `model:flux`, `name:nightly`, `tag:branch=main`, `tag:main`
WITH tagged AS (
    SELECT run_id, unnest(map_entries(tags)) AS tag FROM runs
)

SELECT run_id, 'model' AS kind, 'model:' || model AS selector FROM runs WHERE model <> ''
UNION ALL
SELECT run_id, 'name' AS kind, 'name:' || name AS selector FROM runs
UNION ALL
SELECT run_id, 'tag' AS kind, concat('tag:', tag.key, '=', tag.value) AS selector FROM tagged
UNION
SELECT run_id, 'tag word' AS kind, 'tag:' || unnest([tag.key, tag.value]) AS selector FROM tagged;
