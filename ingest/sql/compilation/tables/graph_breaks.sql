-- Where torch.compile had to end a graph and continue in Python.
-- One row: a graph break of a compilation.
-- Materialised: as a table it is planned with all of DuckDB's optimizers. Writing files switches
-- one off.
--
-- run_id
-- source_id   the compile log
-- rank, compile_id
-- time_ns     Unix time, ns; exact to the millisecond
-- reason      why the graph ended, as torch states it
-- user_frame  position in the user's code: function, file and line
-- stack       Python frames of the user, outermost first
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
