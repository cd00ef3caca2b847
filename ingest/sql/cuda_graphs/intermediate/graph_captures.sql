-- Captures of CUDA graphs. During a capture, a process records launches and does not run them.
-- One row: a capture that began and ended.
-- The names are listed, not matched, so that a run without them skips all statements about graphs.
-- Materialised: it is joined, and DuckDB then knows its size.
WITH
begun AS (
    SELECT * FROM complete
    WHERE name IN (
        'cudaStreamBeginCapture', 'cudaStreamBeginCapture_ptsz', 'cudaStreamBeginCaptureToGraph',
        'cudaStreamBeginCaptureToGraph_ptsz', 'cuStreamBeginCapture', 'cuStreamBeginCapture_v2',
        'cuStreamBeginCaptureToGraph', 'hipStreamBeginCapture', 'hipStreamBeginCaptureToGraph'
    )
),

ended AS (
    SELECT lane, start_ns FROM complete
    WHERE name IN (
        'cudaStreamEndCapture', 'cudaStreamEndCapture_ptsz', 'cuStreamEndCapture',
        'hipStreamEndCapture'
    )
)

SELECT
    begun.source_id,
    begun.rank,
    begun.pid,
    begun.event_id AS capture_id,
    begun.lane,
    begun.end_ns AS start_ns,
    ended.start_ns AS end_ns
FROM begun
ASOF INNER JOIN ended ON begun.lane = ended.lane AND begun.end_ns <= ended.start_ns
-- A capture that failed has no end of its own.
QUALIFY row_number() OVER (PARTITION BY ended.lane, ended.start_ns ORDER BY begun.end_ns DESC) = 1;
