-- The metrics of each run at a glance: of many runs, one small file each.
-- One row: a run.
-- Start here: Which runs are there, and how busy were their devices?
-- Indexed: It is asked of all runs.
--
-- run_id          the run
-- name            its name
-- model           model that was profiled
-- mode            eager or compiled
-- device_name     device; null when the run had none
-- started_at      when the profile began, UTC
-- ingested_at     when it was added, UTC
-- tags            the user's own keys and values
-- sources         input files that were read
-- problems        input files that failed or ended early
-- ranks           ranks among them
-- events          complete events
-- devices         devices with activities; 0 when only the host was profiled
-- activities      kernels, copies and sets
-- span_ns         from a device's first activity to its last, mean over the devices of all ranks,
--                 ns; null without a device
-- busy_ns         busy time in that, mean over these devices, ns; null without a device
-- bubble_ns       idle time in that, ns; null without a device
-- bubble_percent  idle time as a share of the span, 0 to 100; null without a device
-- peak_bytes      the most memory in use of a device at a time, bytes; null where not recorded
-- compilations    what torch.compile compiled while it was measured; null where that is unknown
-- recompiles      those of them that had been compiled before; null where that is unknown
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
        span_ns - busy_ns AS bubble_ns
    FROM (
        SELECT sum(span_ns) AS span, sum(busy_ns) AS busy, sum(activities) AS activities
        FROM device_time
        GROUP BY rank, device
    )
),

-- Of a device in several files the one that counted most.
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
    100.0 * devices.bubble_ns / nullif(devices.span_ns, 0) AS bubble_percent,
    memory.peak_bytes,
    compiled.*
FROM runs
CROSS JOIN files
CROSS JOIN devices
CROSS JOIN memory
CROSS JOIN compiled;
