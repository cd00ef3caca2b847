-- Host activities in which operators or compiled code do the work, as input of `islands`.
-- One row: an activity, as in `host_activities`.
FROM host_activities WHERE kind IN ('operator', 'compiled_code');
