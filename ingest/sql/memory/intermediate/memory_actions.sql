-- Actions of the run's allocators as recorded in snapshots, memory timelines and traces.
-- One row: an action, as in `staged_actions`.
FROM staged_actions
UNION ALL BY NAME
FROM trace_actions;
