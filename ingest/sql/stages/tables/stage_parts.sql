-- The time of each stage of a pipeline call, divided into parts. On a device, the parts of a call
-- add up to its wall time: from the start of the call on the host to its end, or to the end of
-- everything that it launched if that is later. On a host, they add up to the call itself.
-- One row: a part of a row of `stages`, on a device of its rank; without a device, on its host.
--
-- A device activity belongs to the stage in which it was launched, by the launching thread's own
-- call, or else by what the calling thread was doing at that time. Activities between these that
-- were launched elsewhere belong to `other`. Idle time belongs to the activity after it. Idle time
-- before the call's first activity and after its last belongs to what the host did then, and to
-- `other` outside the call. Host time belongs to the stage in which it passed.
--
-- run_id, source_id, rank, device_id, device, pipeline
-- call         number of the call in its input file, from 1 (`stages.call`)
-- stage        `encode`, `denoise`, `decode` or `other`
-- step         number of the denoising step (`steps.step`); null outside steps
-- block_class  class name of the denoiser's block; null outside blocks
-- part         `compute`, … or a cause of idle time, as in `parts`
-- is_idle      whether the device, or the host of a run without one, had nothing to do
-- ordinal      order in which to show the parts, from 1
-- ns           time, ns; negative for an overlap, so that the parts add up
WITH
activities AS (
    SELECT
        inside.source_id,
        inside.device_id,
        inside.around.call,
        CASE WHEN work.call = inside.around.call THEN work END AS work,
        inside.class AS part,
        inside.end_ns - inside.start_ns AS inside_ns,
        greatest(inside.end_ns - greatest(inside.start_ns, inside.reached_ns), 0) AS covered_ns
    FROM activities_in('stage_windows') AS inside
    LEFT JOIN stage_members AS work ON inside.event_id = work.event_id
    WHERE inside.around.measure = 'device'
),

-- Host time before and after a call is outside all stages.
intervals AS (
    SELECT source_id, call, stage, step, block_class, start_ns, end_ns FROM stage_stretches
    UNION ALL BY NAME
    SELECT source_id, call, 'other' AS stage, 0 AS start_ns, start_ns AS end_ns FROM pipeline_calls
    UNION ALL BY NAME
    SELECT
        source_id,
        call,
        'other' AS stage,
        end_ns AS start_ns,
        9223372036854775807 AS end_ns
    FROM pipeline_calls
),

idle AS (
    SELECT
        gap.source_id,
        gap.device_id,
        around.call,
        gap.cause,
        gap.after_kernel_id,
        start_ns,
        end_ns,
        gap.start_ns >= around.work_start_ns
        AND gap.start_ns + gap.dur_ns <= around.work_end_ns AS is_between
    FROM gaps_in('stage_windows')
    WHERE around.measure = 'device'
),

found AS (
    SELECT
        source_id,
        device_id,
        call,
        work.stage,
        work.step,
        work.block_class,
        part,
        inside_ns AS ns
    FROM activities
    UNION ALL
    SELECT
        source_id,
        device_id,
        call,
        work.stage,
        work.step,
        work.block_class,
        'overlap' AS part,
        covered_ns - inside_ns AS ns
    FROM activities
    UNION ALL
    SELECT
        idle.source_id,
        idle.device_id,
        idle.call,
        work.stage,
        work.step,
        work.block_class,
        idle.cause AS part,
        idle.end_ns - idle.start_ns AS ns
    FROM idle
    LEFT JOIN stage_members AS work
        ON idle.after_kernel_id = work.event_id AND idle.call = work.call
    WHERE idle.is_between
    UNION ALL
    SELECT
        idle.source_id,
        idle.device_id,
        idle.call,
        stretch.stage,
        stretch.step,
        stretch.block_class,
        idle.cause AS part,
        least(idle.end_ns, stretch.end_ns) - greatest(idle.start_ns, stretch.start_ns) AS ns
    FROM idle
    INNER JOIN intervals AS stretch
        ON
            idle.source_id = stretch.source_id
            AND idle.call = stretch.call
            AND idle.start_ns < stretch.end_ns
            AND idle.end_ns > stretch.start_ns
    WHERE NOT idle.is_between
    UNION ALL
    SELECT
        source_id,
        device_id,
        call,
        stage,
        step,
        block_class,
        part,
        if(part = 'compute', operators, 1) * dur_ns AS ns
    FROM stage_host_stretches
    UNION ALL
    SELECT
        source_id,
        device_id,
        call,
        stage,
        step,
        block_class,
        'overlap' AS part,
        (1 - operators) * dur_ns AS ns
    FROM stage_host_stretches
    WHERE part = 'compute'
)

SELECT
    found.source_id,
    devices.rank,
    found.device_id,
    devices.device,
    calls.pipeline,
    found.call,
    coalesce(found.stage, 'other') AS stage,
    found.step,
    found.block_class,
    found.part,
    listed.is_idle,
    listed.ordinal,
    sum(found.ns)::BIGINT AS ns
FROM found
INNER JOIN work_devices AS devices USING (device_id)
INNER JOIN pipeline_calls AS calls USING (source_id, call)
INNER JOIN step_part_list AS listed USING (part)
GROUP BY ALL
HAVING sum(found.ns) <> 0
ORDER BY
    found.source_id,
    devices.device,
    found.call,
    stage,
    found.step,
    found.block_class,
    listed.ordinal;
