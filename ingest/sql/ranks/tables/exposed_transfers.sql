-- Communication without waiting for other ranks.
-- One row: a step of a device in which it waited in collectives, or in which the waits of all its
-- communication kernels are known.
-- Materialised: its file is made from it.
--
-- A collective counts from the end of its wait (`collectives.wait_ns`), or from its start if the
-- wait is unknown.
--
-- run_id, source_id, rank, device_id, device
-- step                 number of the step (`steps.step`); null if no steps were found
-- waiting_ns           time in the step in which it waited in collectives, ns
-- transfer_ns          rest of the time of communication kernels, ns
-- exposed_transfer_ns  time of that while no compute kernel ran, ns
-- path_transfer_ns     time of that on the critical path of the step, ns; null if that is unknown
WITH
waits AS (
    SELECT collective_id, start_ns + wait_ns AS until_ns
    FROM collectives
    WHERE wait_ns IS NOT NULL
),

cut AS (
    SELECT
        activity.source_id,
        activity.device_id,
        activity.step,
        activity.event_id,
        activity.start_ns,
        activity.end_ns,
        waits.collective_id IS NOT NULL AS is_known,
        least(greatest(activity.start_ns, coalesce(waits.until_ns, 0)), activity.end_ns)
            AS transfer_from_ns
    FROM step_activities AS activity
    LEFT JOIN waits ON activity.event_id = waits.collective_id
    WHERE activity.class = 'communication'
),

sums AS (
    SELECT
        source_id,
        device_id,
        step,
        sum(transfer_from_ns - start_ns)::BIGINT AS waiting_ns,
        sum(end_ns - transfer_from_ns)::BIGINT AS transfer_ns,
        bool_and(is_known) AS is_known
    FROM cut
    GROUP BY source_id, device_id, step
),

-- Transfers that overlap count once.
spans AS MATERIALIZED (
    SELECT
        source_id,
        device_id,
        step,
        hash(source_id, device_id) AS lane,
        row_number() OVER () AS part_id,
        greatest(transfer_from_ns, max(end_ns) OVER earlier) AS start_ns,
        end_ns
    FROM cut
    WINDOW
        earlier AS (
            PARTITION BY source_id, device_id
            ORDER BY transfer_from_ns, event_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
),

hidden_in AS MATERIALIZED (
    SELECT hash(source_id, device_id) AS lane, start_ns AS from_ns, end_ns AS to_ns
    FROM device_islands
    WHERE class = 'compute'
),

hidden AS (
    SELECT part_id, sum(overlap_ns) AS ns
    FROM overlapping('spans', 'hidden_in')
    GROUP BY part_id
),

exposed AS (
    SELECT
        spans.source_id,
        spans.device_id,
        spans.step,
        sum(greatest(spans.end_ns - spans.start_ns, 0) - coalesce(hidden.ns, 0))::BIGINT AS ns
    FROM spans
    LEFT JOIN hidden ON spans.part_id = hidden.part_id
    GROUP BY spans.source_id, spans.device_id, spans.step
),

paths AS (
    SELECT
        path.source_id,
        path.step,
        sum(greatest(
            path.start_ns + path.dur_ns - greatest(path.start_ns, coalesce(waits.until_ns, 0)), 0
        ))::BIGINT AS ns
    FROM critical_paths AS path
    LEFT JOIN waits ON path.event_id = waits.collective_id
    WHERE path.kind = 'communication'
    GROUP BY path.source_id, path.step
)

SELECT
    sums.source_id,
    devices.rank,
    sums.device_id,
    devices.device,
    sums.step,
    sums.waiting_ns,
    sums.transfer_ns,
    exposed.ns AS exposed_transfer_ns,
    paths.ns AS path_transfer_ns
FROM sums
INNER JOIN work_devices AS devices ON sums.device_id = devices.device_id
INNER JOIN exposed
    ON
        sums.source_id = exposed.source_id
        AND sums.device_id = exposed.device_id
        AND sums.step IS NOT DISTINCT FROM exposed.step
LEFT JOIN paths ON sums.source_id = paths.source_id AND sums.step IS NOT DISTINCT FROM paths.step
WHERE (sums.waiting_ns > 0 OR sums.is_known) AND EXISTS (FROM waits)
ORDER BY sums.source_id, sums.device_id, sums.step;
