-- Dumps of torch's flight recorder: the last collectives of each rank, which show who waits in a
-- hang.
-- One row: a dump.
--
-- run_id, source_id
-- rank             rank of the process, from the file's name
-- version          version of the dump; null if it could not be read, as in the next columns
-- library_version  version of the communication library, such as NCCL; null if not recorded
-- records          number of calls in the dump (`flight_records`)
-- earlier_records  number of earlier calls, which the dump lacks; null if not recorded
-- last_ns          Unix time of the last recorded change, ns; null if there is none
-- is_readable      whether it could be read
-- is_latest        whether it is the latest dump of the rank that could be read
-- used_before_id   of the calls of an earlier dump, views use those before this one
--                  (`flight_records.record_id`), because later dumps have the rest; null if they
--                  use all
WITH
counted AS (
    SELECT
        dumps.source_id,
        sources.rank,
        dumps.version,
        dumps.library_version,
        count(entries.ordinal) AS records,
        min(entries.record_id) AS earlier_records,
        min(coalesce(entries.record_id, entries.ordinal)) AS first_id,
        max(greatest(
            valid_ns(entries.time_created_ns),
            valid_ns(entries.time_discovered_started_ns),
            valid_ns(entries.time_discovered_completed_ns)
        )) AS last_ns,
        count(entries.stack_id) > 0 AS has_stacks
    FROM staged_flight_dumps AS dumps
    INNER JOIN staged_sources AS sources USING (source_id)
    LEFT JOIN staged_flight_records AS entries USING (source_id)
    GROUP BY ALL
),

readable AS (
    SELECT
        * EXCLUDE (has_stacks, first_id),
        TRUE AS is_readable,
        row_number() OVER latest_first = 1 AS is_latest,
        min(first_id) OVER (latest_first ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            AS used_before_id
    FROM counted
    WINDOW
        latest_first AS (
            PARTITION BY rank ORDER BY last_ns DESC NULLS LAST, has_stacks DESC, source_id
        )
),

unreadable AS (SELECT *, FALSE AS is_readable, FALSE AS is_latest FROM unread_dumps)

FROM readable
UNION ALL BY NAME
FROM unreadable;
