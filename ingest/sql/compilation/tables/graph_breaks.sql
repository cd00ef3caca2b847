-- Where torch.compile had to end a graph and to go on in Python.
-- One row: a graph break of a compilation.
-- Materialised: DuckDB plans it with all its optimizers; files are written with one switched off.
--
-- run_id          the run
-- source_id       the compile log
-- rank            rank of the process
-- compile_id      the compilation (`compilations.compile_id`), e.g. `0/1`
-- time_ns         Unix time, ns; to the millisecond
-- reason          why, in torch's words
-- user_frame  where: function, file and line of the user's code
-- stack           the user's Python frames, outermost first
SELECT
    records.source_id,
    sources.rank,
    records.compile_id,
    records.time_ns,
    records.body AS reason,
    frame_label(innermost[3], innermost[1], innermost[2]) AS user_frame,
    records.stack
FROM (
    SELECT
        *,
        regexp_extract_all(stack, 'File "([^"]*)", line (\d+), in (\S+)')[-1] AS last_frame,
        [
            regexp_extract(last_frame, '"(.*)"', 1),
            regexp_extract(last_frame, ', line (\d+)', 1),
            regexp_extract(last_frame, ', in (\S+)$', 1)
        ] AS innermost
    FROM staged_compile_records
    WHERE what = 'dynamo_graph_break_reason'
) AS records
INNER JOIN staged_sources AS sources USING (source_id);
