-- Kernels that communicate.
-- One row: a kernel, as in `kernels`.
-- Materialised: most runs have none, and then nothing about collectives has to be planned.
SELECT
    source_id,
    rank,
    event_id,
    name,
    op_id,
    device_id,
    stream,
    start_ns,
    dur_ns,
    step
FROM kernels
WHERE class = 'communication' AND kind = 'kernel';
