-- Gaps whose end was launched only after they began: the host kept the device waiting.
-- One row: a gap.
--
-- A copy just before the gap can have held the host up. `copy_id` is its call, if the same thread
-- made it and the memory is pageable. `blocked` says that the call blocks by its name. Whether the
-- call was still open when the copy ended is not checked: the clocks of host and device can differ
-- by more.
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
    ON gaps.thread = gap_lanes.thread AND gaps.device IS NOT DISTINCT FROM gap_lanes.device
LEFT JOIN launches AS calls
    ON gaps.before_kernel_id = calls.event_id AND gaps.thread = calls.lane
LEFT JOIN kernels AS copies
    ON calls.event_id = copies.event_id AND copies.kind = 'memcpy'
WHERE gaps.launch_ns > gaps.from_ns;
