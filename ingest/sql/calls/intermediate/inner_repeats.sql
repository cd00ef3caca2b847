-- Calls that torch counts together with their caller, because the caller has the same name and
-- contains no other call. Such a caller may itself be inside one.
-- One row: an inner call. `outermost_id` is the outermost of these callers, `counted_path_id` its
-- path.
-- Materialised: several relations read it.
WITH RECURSIVE
inner_calls AS (
    SELECT call.event_id, call.parent_id
    FROM placed_calls AS call
    INNER JOIN host_nest AS caller ON call.parent_id = caller.event_id
    WHERE caller.repeats
),

outermost AS (
    SELECT event_id, parent_id AS outermost_id
    FROM inner_calls
    WHERE parent_id NOT IN (SELECT called.event_id FROM inner_calls AS called)
    UNION ALL
    SELECT inner_calls.event_id, outermost.outermost_id
    FROM outermost
    INNER JOIN inner_calls ON outermost.event_id = inner_calls.parent_id
)

SELECT outermost.*, placed_calls.path_id AS counted_path_id
FROM outermost
INNER JOIN placed_calls ON outermost.outermost_id = placed_calls.event_id;
