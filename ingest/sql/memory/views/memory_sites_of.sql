-- What held memory at any number of moments: `memory_sites_of(moments)`, with the name of a
-- relation (run_id, source_id, rank, device, ordinal, used_bytes): after which action of a device,
-- and what was in use then; -1 is before the first. The rows of a level add up to that.
-- One row: a holder of memory at one level, at a moment.
--
-- run_id     the run
-- source_id  the input file
-- rank       rank of the process
-- device     device, as PyTorch names it
-- ordinal    the moment
-- level      site (line of the user's code), stack, module, op or category
-- name       the holder; `(before the trace)` for what was there when it began, `(not followed)`
--            where no addresses were recorded
-- stack_id   of level stack, the stack
-- bytes      held, bytes
-- elements   in so many allocations; null where they are not known
-- percent    of what was in use, 0 to 100
CREATE MACRO memory_sites_of(moments) AS TABLE
    WITH
    held AS (
        SELECT
            moment.run_id,
            moment.source_id,
            moment.rank,
            moment.device,
            moment.ordinal,
            moment.used_bytes,
            holder.level,
            holder.name,
            holder.stack_id,
            sum(holder.bytes) AS bytes,
            count(*) AS elements
        FROM query_table(moments) AS moment
        INNER JOIN memory_holders AS holder
            ON
                moment.run_id = holder.run_id
                AND moment.source_id = holder.source_id
                AND moment.device = holder.device
                AND moment.ordinal >= holder.birth_ordinal
                AND moment.ordinal < holder.death_ordinal
        GROUP BY
            moment.run_id,
            moment.source_id,
            moment.rank,
            moment.device,
            moment.ordinal,
            moment.used_bytes,
            holder.level,
            holder.name,
            holder.stack_id
        UNION ALL
        SELECT
            moment.run_id,
            moment.source_id,
            moment.rank,
            moment.device,
            moment.ordinal,
            moment.used_bytes,
            'category' AS level,
            event.category AS name,
            NULL AS stack_id,
            sum(event.change_bytes) AS bytes,
            NULL AS elements
        FROM query_table(moments) AS moment
        INNER JOIN memory_events AS event
            ON
                moment.run_id = event.run_id
                AND moment.source_id = event.source_id
                AND moment.device = event.device
                AND moment.ordinal >= event.ordinal
        WHERE event.origin = 'timeline'
        GROUP BY
            moment.run_id,
            moment.source_id,
            moment.rank,
            moment.device,
            moment.ordinal,
            moment.used_bytes,
            event.category
    ),

    -- One more of each level, for what no allocation accounts for.
    with_rest AS (
        SELECT *, FALSE AS is_rest, NULL::BOOLEAN AS is_followed FROM held
        UNION ALL BY NAME
        SELECT
            moment.run_id,
            moment.source_id,
            moment.rank,
            moment.device,
            moment.ordinal,
            moment.used_bytes,
            unnest(['site', 'stack', 'module', 'op', 'category']) AS level,
            0 AS bytes,
            TRUE AS is_rest,
            peak.elements > 0 AS is_followed
        FROM query_table(moments) AS moment
        INNER JOIN memory_peak AS peak
            ON
                moment.run_id = peak.run_id
                AND moment.source_id = peak.source_id
                AND moment.device = peak.device
    ),

    summed AS (
        SELECT
            * EXCLUDE (name, bytes),
            CASE
                WHEN NOT is_rest THEN name
                WHEN is_followed THEN before_trace()
                ELSE '(not followed)'
            END AS name,
            if(is_rest, greatest(used_bytes - sum(bytes) OVER of_level, 0), bytes) AS bytes
        FROM with_rest
        WINDOW
            of_level AS (PARTITION BY run_id, source_id, rank, device, ordinal, level)
    )

    SELECT
        run_id,
        source_id,
        rank,
        device,
        ordinal,
        level,
        name,
        stack_id,
        sum(bytes)::BIGINT AS bytes,
        sum(elements)::BIGINT AS elements,
        100.0 * sum(bytes) / nullif(any_value(used_bytes), 0) AS percent
    FROM summed
    WHERE bytes <> 0
    GROUP BY run_id, source_id, rank, device, ordinal, level, name, stack_id;
