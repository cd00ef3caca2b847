-- Stretches in which a device was busy, or the host in a run without one.
-- One row: a maximal stretch of a class, as in `device_islands`.
SELECT class, source_id, device, start_ns, end_ns
FROM device_islands
WHERE class IN ('all', 'compute', 'working')
UNION ALL
SELECT 'all' AS class, source_id, device, start_ns, end_ns FROM islands('host_work');
