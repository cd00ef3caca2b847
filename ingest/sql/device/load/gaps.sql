-- Idle gaps of each device, with what ran before and after and when the latter was launched.
-- One row: a gap.
CREATE TABLE gaps AS
WITH neighbours AS (
    SELECT
        *,
        lag(end_ns) OVER device_order AS idle_from_ns,
        lag(last_id) OVER device_order AS before_id
    FROM device_islands
    WHERE class = 'all'
    WINDOW device_order AS (PARTITION BY source_id, device ORDER BY island)
)

SELECT
    row_number() OVER (ORDER BY neighbours.source_id, neighbours.device, neighbours.start_ns)
        AS gap_id,
    neighbours.source_id,
    neighbours.rank,
    neighbours.device,
    neighbours.idle_from_ns AS from_ns,
    neighbours.start_ns AS to_ns,
    neighbours.before_id,
    neighbours.first_id AS after_id,
    launches.lane AS thread,
    launches.launch_ns
FROM neighbours
LEFT JOIN launches ON neighbours.first_id = launches.event_id AND launches.launch_id IS NOT NULL
WHERE neighbours.idle_from_ns IS NOT NULL;

-- A thread can feed several devices, whose gaps overlap: hence a lane per thread and device.
CREATE TABLE gap_lanes AS
SELECT thread, device, row_number() OVER () AS lane
FROM (SELECT DISTINCT thread, device FROM gaps WHERE thread IS NOT NULL);

-- Gaps whose end was launched only after they began: the host kept the device waiting.
--
-- A copy just before the gap can have held the host up. `copy_id` is its call, when the same thread
-- made it; such a call blocks by its name, or because the memory is pageable. Of the former it
-- need not be asked whether the call was still open when the copy ended: the clocks of host and
-- device can differ by more.
CREATE TABLE host_gaps AS
SELECT
    gaps.gap_id,
    gap_lanes.lane,
    gaps.from_ns,
    gaps.to_ns,
    CASE WHEN copies.name LIKE '%Pageable%' THEN copies.launch_id END AS copy_id,
    coalesce(is_wait(calls.launch_name), FALSE) AS blocked,
    CASE WHEN is_wait(calls.launch_name) THEN calls.launch_name END AS blocking_call
FROM gaps
INNER JOIN gap_lanes
    ON gaps.thread = gap_lanes.thread AND gaps.device IS NOT DISTINCT FROM gap_lanes.device
LEFT JOIN launches AS calls
    ON gaps.before_id = calls.event_id AND gaps.thread = calls.lane
LEFT JOIN kernels AS copies
    ON calls.event_id = copies.event_id AND copies.kind = 'memcpy'
WHERE gaps.launch_ns > gaps.from_ns;

CREATE TABLE launching_spans AS
SELECT
    gap_lanes.lane,
    host_spans.event_id AS span_id,
    host_spans.start_ns,
    host_spans.end_ns
FROM host_spans
INNER JOIN gap_lanes ON host_spans.lane = gap_lanes.thread
WHERE gap_lanes.lane IN (SELECT lane FROM host_gaps);
