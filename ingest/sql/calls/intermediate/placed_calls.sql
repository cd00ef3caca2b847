-- Position of each call in the call tree, and its step.
-- One row: a call that torch's tables contain.
-- Materialised in small runs: planning it takes longer than reading its rows.
SELECT
    nest.event_id,
    nest.lane,
    nullif(nest.step, -1) AS step,
    nest.path_id,
    nest.caller_path_id,
    nest.module_id,
    nest.name_number,
    nest.parent_id,
    nest.depth,
    nest.dur_ns,
    nest.inner_ns,
    nest.repeats,
    nest.is_recursive
FROM host_nest AS nest
INNER JOIN call_names ON nest.name_number = call_names.name_number
WHERE call_names.name_id <> 0;
