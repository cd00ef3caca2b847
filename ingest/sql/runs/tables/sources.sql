-- Input files of the runs, what was read of them and what was not.
-- One row: an input file.
--
-- run_id           the run
-- source_id        number of the file in the run, from 0
-- path             absolute path; relative where paths are redacted
-- kind             kineto, megengine, execution_trace, memory_snapshot, memory_timeline,
--                  compile_log, run_json or other
-- rank             rank of the process: from the file's content, else its name, else its place;
--                  null for what is no profile
-- cycle            number of the cycle of the profiler's schedule in which a trace was recorded,
--                  from 1, the same for all processes; null where each process wrote one trace
-- bytes            size on disk, bytes
-- json_bytes       size decompressed, bytes
-- sha256           checksum of the file on disk
-- events           events the file holds; of a memory snapshot or timeline, actions of the
--                  allocators; of a compile log, records; of an execution trace, nodes; of
--                  a profile of MegEngine, times of operators
-- complete_events  of those, rows of `events`; null for what is no trace
-- other_counts     those that are rows of `other_events`, counted by what they are
-- dropped_counts   pieces of the file that are in neither, counted by reason
-- status           ok, truncated (ended early), skipped (no reader for it, or the content of
--                  another) or failed (could not be read)
-- warnings         what was odd, one sentence each
-- warning_codes    the code of each warning, in the same order; the sentences may change, the codes
--                  do not
-- metadata         the file's own metadata, secrets redacted (JSON)
WITH
faults AS (
    SELECT source_id, code, message, 1 AS part FROM memory_faults
    UNION ALL
    SELECT source_id, code, message, 2 AS part FROM compilation_faults
    UNION ALL
    SELECT source_id, code, message, 3 AS part FROM megengine_faults
),

found AS (
    SELECT
        source_id,
        list(message ORDER BY part, message) AS messages,
        list(code ORDER BY part, message) AS codes
    FROM faults
    GROUP BY source_id
)

SELECT
    files.* REPLACE (
        list_concat(files.warnings, found.messages) AS warnings,
        list_concat(files.warning_codes, found.codes) AS warning_codes
    )
FROM staged_files AS files
LEFT JOIN found ON files.source_id = found.source_id;
