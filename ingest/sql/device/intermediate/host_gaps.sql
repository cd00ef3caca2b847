-- Gaps whose next activity was launched only after the gap began, so that the device waited for the
-- host.
-- One row: a gap.
--
-- A copy just before the gap may have blocked the host. `copy_id` is the call of that copy if the
-- same thread made it and the memory is pageable. `blocked` is whether the name of the call shows
-- that it blocks. Whether the call was still open when the copy ended is not checked, because the
-- clocks of host and device can differ by more than that.
-- Materialised: several relations read it.
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
    ON gaps.thread = gap_lanes.thread AND gaps.device_id = gap_lanes.device_id
LEFT JOIN launches AS calls
    ON gaps.before_kernel_id = calls.event_id AND gaps.thread = calls.lane
LEFT JOIN kernels AS copies
    ON calls.event_id = copies.event_id AND copies.kind = 'memcpy'
WHERE gaps.is_late;
