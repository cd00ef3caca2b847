-- The list of runs: their labels, the time of a step, and how busy the device is.
-- One row: a run.
--
-- run_id
-- name           name of the run
-- model, mode, device_name, tags, note
-- started_at     when the profile began, UTC
-- ingested_at
-- steps          number of steps on the default device; null if no steps were found
-- step_ns        wall time of the default device's median step, ns; null if no steps were found
-- step_times_ns  wall times of the steps on the default device, as in `run_step_times`, ns
-- busy_percent   busy time of the default device as a share of the wall time of its median step, or
--                of the entire recording if no steps were found, 0 to 100; null without a device
-- idle_percent   idle time as a share of the span, 0 to 100; null without a device
-- mfu_percent    model FLOP utilisation of the median step, as in `run_efficiency`; null if
--                unknown, or if less than 90 % of the work is known
-- tflop_per_s, bandwidth_percent
-- peak_bytes     the most memory in use on a device at a time, bytes; null if not recorded
-- recompiles     number of recompilations in the measured time; null if not known
-- sources, problems, ranks, devices, events
-- activities     number of kernels, copies and memsets
-- span_ns        time from a device's first activity to its last, ns: mean over the devices of all
--                ranks; null without a device
SELECT
    overview.run_id,
    overview.name,
    overview.model,
    overview.mode,
    overview.device_name,
    overview.tags,
    runs.note,
    overview.started_at,
    overview.ingested_at,
    if(shown.steps_from <> 'run', shown.steps, NULL) AS steps,
    if(shown.steps_from <> 'run', shown.wall_ns, NULL) AS step_ns,
    times.step_times_ns,
    if(shown.measure = 'device', 100.0 * shown.busy_ns / nullif(shown.wall_ns, 0), NULL)
        AS busy_percent,
    overview.idle_percent,
    efficiency.mfu_percent,
    efficiency.tflop_per_s,
    efficiency.bandwidth_percent,
    overview.peak_bytes,
    overview.recompiles,
    overview.sources,
    overview.problems,
    overview.ranks,
    overview.devices,
    overview.events,
    overview.activities,
    overview.span_ns
FROM run_overview AS overview
INNER JOIN runs ON overview.run_id = runs.run_id
LEFT JOIN run_metrics AS shown ON overview.run_id = shown.run_id AND shown.is_default
LEFT JOIN run_step_times AS times ON overview.run_id = times.run_id
LEFT JOIN run_efficiency AS efficiency
    ON
        overview.run_id = efficiency.run_id
        AND efficiency.is_default
        AND NOT efficiency.is_lower_bound;
