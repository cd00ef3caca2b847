-- Kernels of MegEngine, with the part of the idle time before each that its operator spent waiting.
-- A comp node runs the host's work in order. If it idles, the host had not issued work yet, unless
-- the operator waited for results of another comp node.
-- One row: a kernel.
SELECT
    id_in_run(times.source_id, times.ordinal) AS event_id,
    CASE
        WHEN waits.opr_key IS NOT NULL THEN seconds_to_ns(times.kern_s - times.start_s)
        ELSE 0
    END AS wait_ns
FROM staged_megengine_times AS times
LEFT JOIN megengine_waits AS waits
    ON
        times.source_id = waits.source_id
        AND times.opr_key = waits.opr_key
        AND times.lane_name = waits.comp_node
WHERE times.is_device AND isfinite(times.kern_s - times.start_s);
