-- Intervals in which a device was busy, or the host in a run without a device.
-- One row: a maximal interval.
SELECT source_id, device_id, start_ns, end_ns
FROM device_islands
WHERE class = 'all'
UNION ALL
SELECT source_id, device_id, start_ns, end_ns FROM islands('host_work');
