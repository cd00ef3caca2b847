-- Devices whose time is measured: those with activities, or the hosts of a run without any.
-- One row: a device or the host of a rank.
-- Materialised: several relations read it.
SELECT DISTINCT rank, device_id, device, 'device' AS measure
FROM kernels
UNION ALL
SELECT DISTINCT rank, device_id_of(rank, NULL) AS device_id, NULL AS device, 'host' AS measure
FROM steps
WHERE NOT EXISTS (FROM kernels);
