-- `bound_by(compute_ns, memory_ns, work_ns, launch_ns)`: what bounds work that took `work_ns`:
-- compute or memory, if it took at most 1 / 0.6 of the time at the peak rate or at the memory
-- bandwidth, as in Nsight Compute's speed of light; launch, if launching took longer; or else
-- neither. Null if neither peak is known.
CREATE MACRO bound_by(compute_ns, memory_ns, work_ns, launch_ns) AS CASE
    WHEN compute_ns >= 0.6 * work_ns AND compute_ns >= coalesce(memory_ns, 0) THEN 'compute'
    WHEN memory_ns >= 0.6 * work_ns THEN 'memory'
    WHEN launch_ns > work_ns THEN 'launch'
    WHEN compute_ns IS NOT NULL OR memory_ns IS NOT NULL THEN 'neither'
END;
