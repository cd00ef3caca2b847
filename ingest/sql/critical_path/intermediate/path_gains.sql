-- How much earlier a step would end if something on its critical path took no time. Only
-- the names with the most time on the path have rows.
-- One row: a kind of interval, or a name, of a step. The `label` of a name is that of `path_spans`
-- and `path_activities`.
-- Filled by: find_paths(path_steps, path_spans, path_activities, path_syncs)
CREATE TABLE path_gains (
    path BIGINT, level VARCHAR, kind VARCHAR, label UBIGINT, gain_ns BIGINT
);
