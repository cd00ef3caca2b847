-- The selectors by which `ingest diff` and page Compare name several runs at once.
-- One row: a run, and a selector that stands for it.
--
-- run_id    the run
-- kind      what it selects by: model, name, tag (its key and value) or tag word (one of them)
-- selector  `model:flux`, `name:nightly`, `tag:branch=main`, `tag:main`
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
