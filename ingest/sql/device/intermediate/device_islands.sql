-- Intervals in which a device was busy, by class: a class of `kernels`; memory copies (`memcpy`) or
-- sets (`memset`) alone; compute or communication (`working`); or any activity (`all`).
-- One row: a maximal interval of a class.
-- Materialised: several relations read it.
SELECT 'all' AS class, * FROM islands('kernels')
UNION ALL
SELECT 'compute' AS class, * FROM islands('compute_activities')
UNION ALL
SELECT 'communication' AS class, * FROM islands('communication_activities')
UNION ALL
SELECT 'copy' AS class, * FROM islands('copy_activities')
UNION ALL
SELECT 'memcpy' AS class, * FROM islands('memcpy_activities')
UNION ALL
SELECT 'memset' AS class, * FROM islands('memset_activities')
UNION ALL
SELECT 'working' AS class, * FROM islands('working_activities');
