-- What a step would gain if something on its path took no time. Only for median steps, and for the
-- names with the most time on the path.
-- One row: a kind, or a name, of a step. A name's `label` is that of `path_spans` and
-- `path_activities`.
-- Filled by: find_paths(path_steps, path_spans, path_activities, path_syncs)
CREATE TABLE path_gains (
    path BIGINT, level VARCHAR, kind VARCHAR, label UBIGINT, gain_ns BIGINT
);
