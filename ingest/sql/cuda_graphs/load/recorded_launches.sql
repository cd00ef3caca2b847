-- Launches that a CUDA graph recorded while it was captured.
-- One row: a call that launched nothing itself.
-- Materialised: it is joined, and DuckDB then knows its size.
--
-- Other threads of the process may record launches, as autograd's do. Their other launches have
-- device activities.
WITH calls AS (
    SELECT *, recorded_kind(name) AS kind
    FROM complete
    WHERE category IN ('cuda_runtime', 'cuda_driver')
)

SELECT
    calls.event_id,
    calls.source_id,
    calls.rank,
    captures.capture_id,
    calls.lane,
    calls.start_ns AS launch_ns,
    calls.kind,
    json_extract_string(calls.args, '$.kernel') AS kernel
FROM calls
ASOF INNER JOIN graph_captures AS captures
    ON
        calls.source_id = captures.source_id
        AND calls.pid = captures.pid
        AND calls.start_ns >= captures.from_ns
ANTI JOIN launches ON calls.event_id = launches.launch_id
WHERE calls.start_ns < captures.to_ns AND calls.kind IS NOT NULL;
