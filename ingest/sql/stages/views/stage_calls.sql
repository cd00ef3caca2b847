-- Calls of diffusers pipelines on each device, with their wall time. `stages` and `stage_parts`
-- divide the calls.
-- One row: a call, on a device of its rank; without a device, on its host.
--
-- run_id, source_id, device_id, rank, device, pipeline, call
-- start_ns   Unix time at which the call began, ns
-- host_ns    duration of the call on the host, ns
-- wall_ns    time from the start of the call until it and everything that it launched ended, ns
-- calls      number of calls of the pipeline on the device
-- is_median  whether it is the call of median wall time of this pipeline on the device; of the two
--            middle calls, the shorter one
WITH
on_host AS (
    SELECT
        run_id,
        source_id,
        call,
        min(start_ns) AS start_ns,
        sum(host_ns)::BIGINT AS host_ns
    FROM stages
    GROUP BY ALL
),

on_device AS (
    SELECT run_id, source_id, device_id, rank, device, pipeline, call, sum(ns)::BIGINT AS wall_ns
    FROM stage_parts
    GROUP BY ALL
)

SELECT
    found.run_id,
    found.source_id,
    found.device_id,
    found.rank,
    found.device,
    found.pipeline,
    found.call,
    on_host.start_ns,
    on_host.host_ns,
    found.wall_ns,
    count(*) OVER same_pipeline AS calls,
    row_number() OVER by_wall = (count(*) OVER same_pipeline + 1) // 2 AS is_median
FROM on_device AS found
INNER JOIN on_host USING (run_id, source_id, call)
WINDOW
    same_pipeline AS (PARTITION BY found.run_id, found.device_id, found.pipeline),
    by_wall AS (
        PARTITION BY found.run_id, found.device_id, found.pipeline
        ORDER BY found.wall_ns, on_host.start_ns, found.source_id
    );
