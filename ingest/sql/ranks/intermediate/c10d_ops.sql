-- Operators of torch.distributed whose collectives the host computes.
-- One row: an operator. `place` is its place among the operators of its kind.
-- Materialised: several relations read it.
WITH
-- These launch kernels.
recorded AS (
    SELECT call.lane, call.start_ns
    FROM staged_collectives AS collective
    INNER JOIN complete AS call ON collective.event_id = call.event_id
    WHERE call.side = 'host'
)

SELECT
    op.source_id,
    op.rank,
    op.event_id,
    op.start_ns,
    op.end_ns,
    collective_kind(op.name) AS kind,
    row_number() OVER (
        PARTITION BY op.source_id, collective_kind(op.name) ORDER BY op.start_ns, op.event_id
    ) AS place
FROM complete AS op
ASOF LEFT JOIN recorded ON op.lane = recorded.lane AND op.start_ns <= recorded.start_ns
WHERE
    op.category = 'cpu_op'
    AND starts_with(op.name, 'c10d::')
    AND coalesce(recorded.start_ns >= op.end_ns, TRUE)
    AND EXISTS (SELECT 1 FROM library_works);
