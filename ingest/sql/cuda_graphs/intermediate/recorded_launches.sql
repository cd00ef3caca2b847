-- Launches that a CUDA graph recorded while it was captured.
-- One row: a call without a device activity, during a capture.
-- Materialised: it is joined, and DuckDB then knows its size.
--
-- Other threads of the process may record launches, too, as autograd's do. Calls of theirs that ran
-- have activities, and are left out. A thread that captures itself records in its own capture.
WITH
calls AS (
    SELECT *, recorded_kind(name) AS kind
    FROM complete
    WHERE category IN ('cuda_runtime', 'cuda_driver')
),

recording AS (
    SELECT calls.*
    FROM calls
    SEMI JOIN graph_captures ON calls.source_id = graph_captures.source_id
    ANTI JOIN launches ON calls.event_id = launches.launch_id
    WHERE calls.kind IS NOT NULL
),

waits AS (
    SELECT DISTINCT captures.capture_id
    FROM complete AS call
    INNER JOIN graph_captures AS captures
        ON call.source_id = captures.source_id AND call.pid IS NOT DISTINCT FROM captures.pid
    WHERE
        call.category IN ('cuda_runtime', 'cuda_driver')
        AND contains(call.name, 'StreamWaitEvent')
        AND call.start_ns BETWEEN captures.start_ns AND captures.end_ns
),

found AS (
    SELECT
        recording.*,
        if(recording.start_ns < own.end_ns, own.capture_id, others.capture_id) AS capture_id
    FROM recording
    ASOF LEFT JOIN graph_captures AS own
        ON recording.lane = own.lane AND recording.start_ns >= own.start_ns
    ASOF LEFT JOIN graph_captures AS others
        ON
            recording.source_id = others.source_id
            AND coalesce(recording.pid, '') = coalesce(others.pid, '')
            AND recording.start_ns >= others.start_ns
    WHERE recording.start_ns < own.end_ns OR recording.start_ns < others.end_ns
)

SELECT
    found.event_id,
    found.source_id,
    found.rank,
    found.capture_id,
    waits.capture_id IS NOT NULL AS is_forked,
    found.lane,
    found.start_ns AS launch_ns,
    found.kind,
    recorded.kernel
FROM found
LEFT JOIN staged_calls AS recorded USING (event_id)
LEFT JOIN waits ON found.capture_id = waits.capture_id;
