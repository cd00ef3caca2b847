-- Devices whose memory a source tells of.
-- One row: a device in a source.
CREATE TABLE memory_devices AS
SELECT
    (row_number() OVER (ORDER BY source_id, device) - 1)::INTEGER AS device_id,
    source_id,
    device,
    coalesce(any_value(origin), 'snapshot') AS origin,
    sum(actions)::BIGINT AS actions,
    min(first_ns) AS first_ns,
    max(last_ns) AS last_ns
FROM (
    SELECT
        source_id,
        device,
        any_value(origin) AS origin,
        count(*) AS actions,
        min(time_ns) AS first_ns,
        max(time_ns) AS last_ns
    FROM staged_actions
    GROUP BY source_id, device
    UNION ALL
    SELECT DISTINCT
        source_id,
        device,
        'snapshot' AS origin,
        0 AS actions,
        NULL AS first_ns,
        NULL AS last_ns
    FROM staged_segments
)
GROUP BY source_id, device;

-- One row: an allocation's life, in ordinals of its device's actions. One that was there at the
-- start has no birth, one that was still there at the end no death. It counts as allocated up to
-- `requested`, which is -1 where the free had been requested before the trace began.
CREATE TABLE memory_lives (
    device_id INTEGER,
    address UBIGINT,
    bytes BIGINT,
    birth INTEGER,
    requested INTEGER,
    death INTEGER,
    action_id BIGINT,  -- the first that is known of it
    birth_ns BIGINT,
    requested_ns BIGINT,
    death_ns BIGINT,
    stack_id INTEGER,
    free_stack_id INTEGER
);

-- One row: an action, with what there is after it, less what there was at the start.
CREATE TABLE memory_curves (
    device_id INTEGER,
    action_id BIGINT,
    ordinal BIGINT,
    change_bytes BIGINT,
    active_bytes BIGINT,
    allocated_bytes BIGINT,
    reserved_bytes BIGINT
);
