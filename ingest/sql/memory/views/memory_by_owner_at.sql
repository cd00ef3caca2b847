-- What held memory at any number of moments: `memory_by_owner_at(moments)`. The argument is the
-- name of a relation with rows of `memory_timeline`. The rows of a level add up to the memory in
-- use at the moment.
-- One row: an owner of memory at one level, at a moment.
--
-- run_id, source_id, rank, device_id, device_type, device
-- ordinal      the moment (`memory_timeline.ordinal`)
-- level        frame (line of the user's code), stack, module, op or category
-- name         the owner; `(before the trace)` for memory allocated before the trace and freed
--              during it, `(not freed)` for memory in use during the entire trace without a known
--              owner, `(not followed)` if no addresses were recorded, `(no stack)` and similar
--              names if the owner was not recorded
-- is_known
-- stack_id     for level stack, the stack (`stacks.stack_id`)
-- bytes        memory held, bytes
-- allocations  number of allocations; null if not known
-- percent      share of the memory in use, 0 to 100
CREATE MACRO memory_by_owner_at(moments) AS TABLE
    WITH
    requested_moments AS NOT MATERIALIZED (
        SELECT run_id, source_id, rank, device_id, device_type, device, ordinal, used_bytes
        FROM query_table(moments)
    ),

    held AS (
        SELECT
            moment.*,
            owner.level,
            owner.name,
            owner.is_known,
            owner.stack_id,
            sum(owner.bytes) AS bytes,
            count(*) AS allocations
        FROM requested_moments AS moment
        INNER JOIN memory_owners AS owner
            ON
                moment.run_id = owner.run_id
                AND moment.source_id = owner.source_id
                AND moment.device_id = owner.device_id
                AND moment.ordinal >= owner.alloc_ordinal
                AND moment.ordinal < owner.free_ordinal
        GROUP BY ALL
        UNION ALL BY NAME
        SELECT
            moment.*,
            'category' AS level,
            event.category AS name,
            event.category IS NOT NULL AS is_known,
            sum(event.change_bytes) AS bytes
        FROM requested_moments AS moment
        INNER JOIN memory_events AS event
            ON
                moment.run_id = event.run_id
                AND moment.source_id = event.source_id
                AND moment.device_id = event.device_id
                AND moment.ordinal >= event.ordinal
        WHERE event.origin = 'timeline'
        GROUP BY ALL
    ),

    -- Each level gets one more row, for memory that no allocation accounts for.
    with_rest AS (
        SELECT *, FALSE AS is_rest FROM held
        UNION ALL BY NAME
        SELECT
            moment.*,
            unnest(['frame', 'stack', 'module', 'op', 'category']) AS level,
            FALSE AS is_known,
            0 AS bytes,
            TRUE AS is_rest,
            peak.allocations > 0 AS is_followed
        FROM requested_moments AS moment
        INNER JOIN memory_peak AS peak USING (run_id, source_id, device_id)
    ),

    summed AS (
        SELECT
            * EXCLUDE (is_rest, is_followed) REPLACE (
                CASE
                    WHEN NOT is_rest THEN name
                    WHEN is_followed THEN before_trace()
                    ELSE '(not followed)'
                END AS name,
                if(is_rest, greatest(used_bytes - sum(bytes) OVER of_level, 0), bytes) AS bytes
            )
        FROM with_rest
        WINDOW
            of_level AS (
                PARTITION BY run_id, source_id, device_id, ordinal, level
            )
    )

    SELECT
        * EXCLUDE (used_bytes, bytes, allocations),
        sum(bytes)::BIGINT AS bytes,
        sum(allocations)::BIGINT AS allocations,
        100.0 * sum(bytes) / nullif(any_value(used_bytes), 0) AS percent
    FROM summed
    WHERE bytes <> 0
    GROUP BY ALL;
