-- Process groups in dumps of the flight recorder, with their ranks and last collectives as
-- recorded.
-- One row: a process group of a dump.
--
-- run_id, source_id
-- rank                rank of the process that wrote the dump
-- process_group       the group in the run: its name, and its lowest rank if several groups have
--                     the name
-- group_description
-- pg_number           number of the group in the process, which may differ between ranks
-- member_ranks        ranks of the group; null if not recorded, as with gloo
-- last_enqueued       number of the last call that was enqueued, as torch counts them in
--                     `pg_status`: with gloo, and in groups with point-to-point calls, it is not a
--                     sequence number of collectives; null if there is none
-- last_started        the same for the last call that started
-- last_completed      the same for the last call that completed
WITH numbers AS (
    SELECT source_id, name, max(pg_id) AS pg_id FROM flight_entries GROUP BY source_id, name
)

SELECT
    names.source_id,
    names.rank,
    names.process_group,
    names.group_description,
    numbers.pg_id AS pg_number,
    names.ranks AS member_ranks,
    CASE WHEN status.last_enqueued_collective >= 0 THEN status.last_enqueued_collective END
        AS last_enqueued,
    CASE WHEN status.last_started_collective >= 0 THEN status.last_started_collective END
        AS last_started,
    CASE WHEN status.last_completed_collective >= 0 THEN status.last_completed_collective END
        AS last_completed
FROM flight_names AS names
LEFT JOIN numbers USING (source_id, name)
LEFT JOIN staged_flight_status AS status
    ON numbers.source_id = status.source_id AND numbers.pg_id = status.pg_id;
