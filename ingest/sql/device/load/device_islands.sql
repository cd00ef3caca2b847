-- Stretches in which a device was busy: at all, and with what.
-- One row: a maximal stretch, of the class `all`, of a class of activities, or of `working`, which
-- is compute or communication.
CREATE TABLE device_islands AS
SELECT 'all' AS class, * FROM islands('kernels')
UNION ALL
SELECT 'compute' AS class, * FROM islands('compute_activities')
UNION ALL
SELECT 'communication' AS class, * FROM islands('communication_activities')
UNION ALL
SELECT 'copy' AS class, * FROM islands('copy_activities')
UNION ALL
SELECT 'working' AS class, * FROM islands('working_activities');
