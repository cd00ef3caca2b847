-- Stretches in which a device was busy, or the host in a run without one.
-- One row: a maximal stretch.
SELECT source_id, device, start_ns, end_ns
FROM device_islands
WHERE class = 'all'
UNION ALL
SELECT source_id, device, start_ns, end_ns FROM islands('host_work');
