-- The memory of each device after each of its actions.
-- One row: an action.
SELECT
    curves.curve_id,
    curves.action_id,
    curves.ordinal,
    curves.change_bytes,
    starts.active_bytes + curves.active_bytes AS active_bytes,
    starts.allocated_bytes + curves.allocated_bytes AS allocated_bytes,
    starts.reserved_bytes + curves.reserved_bytes AS reserved_bytes
FROM memory_curves AS curves
INNER JOIN memory_starts AS starts ON curves.curve_id = starts.curve_id;
