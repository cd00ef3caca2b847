-- Calls of diffusers pipelines on each device, with their wall time; `stages` and `stage_parts`
-- have what they consist of.
-- One row: a call, on a device of its rank; without a device, on its host.
--
-- run_id     the run
-- source_id  the input file
-- rank       rank of the process
-- device     number of the device; null where the host is measured
-- pipeline   class of the pipeline
-- call       place of the call among those of its input file, from 1
-- start_ns   Unix time at which it began, ns
-- host_ns    its length on the host, ns
-- wall_ns    until it and all that it launched had ended, ns
-- calls      calls of the pipeline on the device
-- is_median  whether it is the device's call of median wall time of this pipeline, of two the
--            shorter
WITH
on_host AS (
    SELECT
        run_id,
        source_id,
        call,
        min(start_ns) AS start_ns,
        sum(host_ns)::BIGINT AS host_ns
    FROM stages
    GROUP BY run_id, source_id, call
),

on_device AS (
    SELECT run_id, source_id, rank, device, pipeline, call, sum(ns)::BIGINT AS wall_ns
    FROM stage_parts
    GROUP BY run_id, source_id, rank, device, pipeline, call
)

SELECT
    found.run_id,
    found.source_id,
    found.rank,
    found.device,
    found.pipeline,
    found.call,
    on_host.start_ns,
    on_host.host_ns,
    found.wall_ns,
    count(*) OVER alike AS calls,
    row_number() OVER by_wall = (count(*) OVER alike + 1) // 2 AS is_median
FROM on_device AS found
INNER JOIN on_host USING (run_id, source_id, call)
WINDOW
    alike AS (PARTITION BY found.run_id, found.rank, found.device, found.pipeline),
    by_wall AS (
        PARTITION BY found.run_id, found.rank, found.device, found.pipeline
        ORDER BY found.wall_ns, on_host.start_ns, found.source_id
    );
