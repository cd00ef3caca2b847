-- Activities of the host in which operators, generated code or data loaders work, for `islands`.
-- One row: an activity, as in `host_activities`.
FROM host_activities WHERE kind <> 'compile';
