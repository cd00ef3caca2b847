-- Stretches in which a device was busy, or the host in a run without one.
-- One row: a maximal stretch of a class.
SELECT class, source_id, device, start_ns, end_ns FROM device_islands
UNION ALL
SELECT class, source_id, device, start_ns, end_ns FROM host_islands;
