-- Settings of the allocator, as snapshots say them.
-- One row: a setting.
--
-- run_id     the run
-- source_id  the input file
-- rank       rank of the process
-- setting    its name; parts of a compound one behind a dot
-- value      its value, as text
SELECT settings.source_id, sources.rank, settings.setting, settings.value
FROM staged_settings AS settings
INNER JOIN staged_sources AS sources USING (source_id);
