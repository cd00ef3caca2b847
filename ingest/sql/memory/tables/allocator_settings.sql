-- Settings of the allocator, as recorded in memory snapshots.
-- One row: a setting.
--
-- run_id, source_id, rank
-- setting  name of the setting; dots separate the parts of a compound setting
-- value    value of the setting, as text
WITH
settings AS (
    SELECT source_id, unnest(map_entries(settings)) AS setting
    FROM staged_settings
)

SELECT settings.source_id, sources.rank, settings.setting.key AS setting, settings.setting.value
FROM settings
INNER JOIN staged_sources AS sources USING (source_id);
