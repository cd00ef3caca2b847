-- Adds the actions of a snapshot (`snapshot_events`), source $source_id, to `staged_actions`, in
-- current units and names.
INSERT INTO staged_actions BY NAME
SELECT
    id_in_run($source_id, device * 2_000_000_000::BIGINT + ordinal) AS action_id,
    $source_id AS source_id,
    'snapshot' AS origin,
    'cuda:' || device AS device_label,
    ordinal,
    CASE WHEN time_us BETWEEN 0 AND 4e15 THEN time_us * 1000 END AS time_ns,  -- up to 2096
    action,
    address,
    bytes,
    stream,
    pool,
    stack_id,
    forward_stack_id,
    category,
    nullif(compile_context, 'N/A') AS compile_context,
    nullif(user_metadata, '') AS user_metadata,
    device_free_bytes,
    other
FROM snapshot_events;
