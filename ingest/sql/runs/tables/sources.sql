-- Input files of the runs, with the numbers of events that were read and that were not.
-- One row: an input file, or each process in a trace of several processes.
-- Materialised: several statements read it, and planning it takes longer than reading its rows.
--
-- run_id
-- source_id        number of the file in the run, from 0; further processes of files come last
-- path             absolute path; relative if paths are redacted
-- kind             kineto, graph_capture (a trace that only explains graph launches of the run),
--                  graph_annotations, megengine, execution_trace, memory_snapshot, memory_timeline,
--                  flight_recorder, compile_log, run_json or other
-- rank             rank of the process: from the file's content, or else from its name, or else
--                  from its position; null if the file is not a profile
-- cycle            number of the cycle of the profiler's schedule in which a trace was recorded,
--                  from 1, the same for all processes; null if each process wrote one trace
-- bytes            size on disk, bytes; null for further processes of a file
-- json_bytes       size after decompression, bytes; null for further processes of a file
-- sha256           checksum of the file on disk; null if it was not read
-- events           number of events in the file; of allocator actions in a memory snapshot or
--                  timeline; of records in a compile log; of nodes in an execution trace; of
--                  operator times in a profile of MegEngine; of calls in a dump of the flight
--                  recorder
-- complete_events  number of events that are rows of `events`; null if the file is not a trace
-- other_counts     number of events that are rows of `other_events`, by kind
-- dropped_counts   number of pieces of the file that are neither in `events` nor in `other_events`,
--                  by reason
-- status           ok, truncated (ended early), skipped (no reader for it, the same content as
--                  another file, or in a directory of the run) or failed (could not be read)
-- warnings         irregularities of the file, one sentence each
-- warning_codes    code of each warning, in the same order; sentences may change, codes do not
-- metadata         metadata recorded in the file, secrets redacted (JSON)
-- known_devices    devices that the file describes: number, name, size of the memory in bytes,
--                  number of multiprocessors, compute capability
-- conditions       versions and settings of the profiler that the file records, by name
WITH
faults AS (
    SELECT source_id, code, message, 1 AS part FROM memory_faults
    UNION ALL
    SELECT source_id, code, message, 2 AS part FROM compilation_faults
    UNION ALL
    SELECT source_id, code, message, 3 AS part FROM megengine_faults
    UNION ALL
    SELECT source_id, code, message, 4 AS part FROM graph_faults
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
