-- Begins and ends of source $source_id that belong together: on a thread, or with the same category
-- and id if they are asynchronous. Each begin belongs to the next end at its nesting level. Events
-- of an earlier export of tracehouse stay as recorded.
-- One row: a pair, with the text of the complete event that equals it, as `parse` reads it. If both
-- have an argument, the end's counts.
WITH
marks AS (
    SELECT
        event_id,
        phase IN ('B', 'b') AS is_begin,
        if(
            phase IN ('B', 'E'),
            hash(pid, tid),
            hash(
                pid,
                category,
                args ->> '$.scope',
                coalesce(id, args ->> '$.id2.local', args ->> '$.id2.global', concat('on ', tid))
            )
        ) AS lane,
        relative_ns
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
        lead(struct_pack(event_id, is_begin)) OVER (
            PARTITION BY lane, level ORDER BY relative_ns, event_id
        ) AS next
    FROM levels
),

pairs AS (
    SELECT
        started.event_id,
        ended.event_id AS end_id,
        started.relative_ns,
        ended.relative_ns - started.relative_ns AS dur_ns,
        json_merge_patch(
            started.args, '{"ph":null,"ts":null,"dur":null,"args":null}'
        )::VARCHAR AS fields,
        json_extract(started.args, '$.args') AS args,
        json_extract(ended.args, '$.args') AS end_args
    FROM following
    INNER JOIN staged AS started ON following.event_id = started.event_id
    INNER JOIN staged AS ended ON following.next.event_id = ended.event_id
    WHERE following.is_begin AND NOT following.next.is_begin AND started.name IS NOT NULL
)

SELECT
    event_id,
    end_id,
    event_id - id_in_run($source_id, 0) AS ordinal,
    0 AS from_byte,
    0 AS to_byte,
    concat(
        '{"ph":"X","ts":',
        chrome_us(relative_ns),
        ',"dur":',
        chrome_us(dur_ns),
        ',"args":' || CASE
            WHEN json_type(end_args) IS DISTINCT FROM 'OBJECT' THEN args
            WHEN json_type(args) = 'OBJECT' THEN json_merge_patch(args, end_args)
            WHEN args IS NULL OR json_type(args) = 'NULL' THEN end_args
            ELSE args
        END::VARCHAR,
        ',',
        fields[2:]
    ) AS event
FROM pairs;
