-- Input files of the runs, what was read of them and what was not.
-- One row: an input file.
--
-- run_id         the run
-- source_id      number of the file in the run, from 0
-- path           path as it was given
-- kind           kineto, memory_snapshot, memory_timeline, compile_log, run_json or other
-- rank           rank of the process: from the file's content, else its name, else its place; null
--                for what is no profile
-- bytes          size on disk, bytes
-- json_bytes     size decompressed, bytes
-- sha256         checksum of the file on disk
-- events         events the file holds; of a memory snapshot or timeline, actions of the
--                allocators; of a compile log, records
-- complete       of those, rows of `events`; null for what is no trace
-- other          those that are rows of `other_events`, counted by what they are
-- dropped        pieces of the file that are in neither, counted by reason
-- status         ok, truncated (ended early), skipped (no reader for it, or the content of another)
--                or failed (could not be read)
-- warnings       what was odd, one sentence each
-- warning_codes  the code of each warning, in the same order; the sentences may change, the codes
--                do not
-- meta           the file's own metadata, secrets redacted (JSON)
CREATE TABLE sources (
    source_id INTEGER,
    path VARCHAR,
    kind VARCHAR,
    rank INTEGER,
    bytes BIGINT,
    json_bytes BIGINT,
    sha256 VARCHAR,
    events BIGINT,
    complete BIGINT,
    other MAP (VARCHAR, BIGINT),
    dropped MAP (VARCHAR, BIGINT),
    status VARCHAR,
    warnings VARCHAR[],
    warning_codes VARCHAR[],
    meta JSON
);
