-- Kernels of MegEngine, and what each says of the idle time before it. A comp node runs what the
-- host has issued, in order; so where it idles, the host had issued nothing, unless the operator
-- waited for results of another comp node.
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
        AND times.place = waits.comp_node
WHERE times.is_device AND isfinite(times.kern_s - times.start_s);
