-- `bound_by(peak_ns, bandwidth_ns, work_ns, launch_ns)`: what bounds work that took `work_ns`:
-- compute or memory, if it took at most 1 / 0.6 of the time at the peak rate or at the memory
-- bandwidth, as in Nsight Compute's speed of light; launch, if launching took longer; or else
-- neither. Null if neither peak is known.
CREATE MACRO bound_by(peak_ns, bandwidth_ns, work_ns, launch_ns) AS CASE
    WHEN peak_ns >= 0.6 * work_ns AND peak_ns >= coalesce(bandwidth_ns, 0) THEN 'compute'
    WHEN bandwidth_ns >= 0.6 * work_ns THEN 'memory'
    WHEN launch_ns > work_ns THEN 'launch'
    WHEN peak_ns IS NOT NULL OR bandwidth_ns IS NOT NULL THEN 'neither'
END;
