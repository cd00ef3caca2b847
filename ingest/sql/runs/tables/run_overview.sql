-- The main metrics of each run, in one small file per run.
-- One row: a run.
-- Start here: Which runs are there, and how busy were their devices?
-- Indexed: Queries over all runs read it.
-- Materialised: several statements read it, and planning it takes longer than reading its rows.
--
-- run_id
-- name          name of the run
-- model, mode, device_name
-- started_at    when the profile began, UTC
-- ingested_at, tags, sources, problems, ranks, events, devices
-- activities    number of kernels, copies and memsets
-- span_ns       time from a device's first activity to its last, ns: mean over the devices of all
--               ranks; null without a device
-- busy_ns       busy time in the span, ns: mean over the devices of all ranks; null without a
--               device
-- idle_ns       idle time in the span, ns; null without a device
-- idle_percent  idle time as a share of the span, 0 to 100; null without a device
-- peak_bytes    the most memory in use on a device at a time, bytes; null if not recorded
-- compilations  number of torch.compile compilations in the measured time; null if not known
-- recompiles    number of recompilations in the measured time; null if not known
WITH
files AS (
    SELECT
        count(*) FILTER (WHERE status IN ('ok', 'truncated') AND rank IS NOT NULL) AS sources,
        count(*) FILTER (WHERE status IN ('failed', 'truncated')) AS problems,
        count(DISTINCT rank) AS ranks,
        sum(complete_events)::BIGINT AS events
    FROM sources
),

devices AS (
    SELECT
        count(*) AS devices,
        coalesce(sum(activities), 0)::BIGINT AS activities,
        sum(span)::BIGINT // nullif(count(*), 0) AS span_ns,
        sum(busy)::BIGINT // nullif(count(*), 0) AS busy_ns,
        span_ns - busy_ns AS idle_ns
    FROM (
        SELECT sum(span_ns) AS span, sum(busy_ns) AS busy, sum(activities) AS activities
        FROM device_time
        GROUP BY device_id
    )
),

-- A device can be in several files: the highest peak counts.
memory AS (
    SELECT max(peak_bytes) AS peak_bytes FROM memory_peak WHERE device_type <> 'cpu'
),

compiled AS (
    SELECT
        sum(compilations)::BIGINT AS compilations,
        sum(recompiles)::BIGINT AS recompiles
    FROM measured_compilations
)

SELECT
    runs.name,
    runs.model,
    runs.mode,
    runs.device_name,
    runs.started_at,
    runs.ingested_at,
    runs.tags,
    files.*,
    devices.*,
    100.0 * devices.idle_ns / nullif(devices.span_ns, 0) AS idle_percent,
    memory.peak_bytes,
    compiled.*
FROM runs
CROSS JOIN files
CROSS JOIN devices
CROSS JOIN memory
CROSS JOIN compiled;
