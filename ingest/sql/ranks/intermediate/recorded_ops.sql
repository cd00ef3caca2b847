-- Operators of torch.distributed that the flight recorder remembers: their process group, and their
-- number in it.
-- One row: such an operator.
-- Materialised: it is joined, and DuckDB then knows its size.
--
-- An entry is created during its operator. Point-to-point calls have no number that both ranks
-- share.
WITH
entries AS (
    SELECT
        dumps.rank,
        entries.name AS group_name,
        entries.kind,
        if(entries.is_direct, NULL, entries.collective_seq) AS seq,
        valid_ns(entries.time_created_ns) AS created_ns
    FROM flight_entries AS entries
    INNER JOIN staged_sources AS dumps ON entries.source_id = dumps.source_id
    WHERE valid_ns(entries.time_created_ns) IS NOT NULL
)

SELECT
    op.event_id AS op_id,
    any_value(entries.group_name) AS group_name,
    any_value(entries.seq) AS seq
FROM entries
ASOF INNER JOIN c10d_ops AS op
    ON entries.rank = op.rank AND entries.created_ns >= op.start_ns
WHERE entries.kind = op.kind AND entries.created_ns < op.end_ns
GROUP BY op.event_id;
