-- Begins and ends of source $source_id that belong together: on a thread, or with the same category
-- and id if they are asynchronous. Each begin belongs to the next end at its nesting level. Events
-- of an earlier export of tracehouse stay as recorded.
-- One row: a pair, with the text of the complete event that equals it, as `parse` reads it.
WITH
marks AS (
    SELECT
        *,
        phase IN ('B', 'b') AS is_begin,
        if(
            phase IN ('B', 'E'),
            hash(pid, tid),
            hash(pid, category, coalesce(id, args ->> '$.id2.local', args ->> '$.id2.global'))
        ) AS lane
    FROM staged
    WHERE
        source_id = $source_id
        AND phase IN ('B', 'E', 'b', 'e')
        AND relative_ns IS NOT NULL
        AND category IS DISTINCT FROM 'tracehouse'
),

levels AS (
    SELECT
        *,
        sum(if(is_begin, 1, -1)) OVER (PARTITION BY lane ORDER BY relative_ns, event_id)
        - if(is_begin, 1, 0) AS level
    FROM marks
),

following AS (
    SELECT
        *,
        lead(struct_pack(event_id, is_begin, relative_ns, args)) OVER (
            PARTITION BY lane, level ORDER BY relative_ns, event_id
        ) AS next
    FROM levels
)

SELECT
    event_id,
    next.event_id AS end_id,
    event_id - id_in_run($source_id, 0) AS ordinal,
    0 AS from_byte,
    0 AS to_byte,
    concat(
        '{"ph":"X","ts":',
        chrome_us(relative_ns),
        ',"dur":',
        chrome_us(next.relative_ns - relative_ns),
        ',',
        json_merge_patch(args, concat(
            '{"ph":null,"ts":null,"dur":null',
            ',"args":' || (next.args -> '$.args'),
            '}'
        ))[2:]
    ) AS event
FROM following
WHERE is_begin AND name IS NOT NULL AND NOT next.is_begin;
