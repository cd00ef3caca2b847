-- Names and order of processes and threads, mostly as recorded. The label of a process, such as
-- `GPU 0`, is appended to its name, because Perfetto does not show labels. In a file with several
-- ranks or runs, $label precedes each name, and $interval_number orders them.
-- One row: a metadata event, as JSON after a comma.
WITH recorded AS (
    SELECT
        *,
        event ->> '$.args.name' AS process_name,
        try_cast(event ->> '$.args.sort_index' AS BIGINT) AS sort_index,
        max(event ->> '$.args.labels') FILTER (WHERE name = 'process_labels')
            OVER (PARTITION BY source_id, pid) AS process_label
    FROM other_events
    WHERE
        run_id = $run
        AND rank = $rank
        AND phase = 'M'
        AND category IS DISTINCT FROM 'tracehouse'
),

changed AS (
    SELECT
        *,
        CASE
            WHEN name = 'process_name'
                THEN json_object('name', concat_ws(': ', $label, if(
                    ends_with(process_name, concat('(', process_label, ')')),
                    process_name,
                    concat(process_name, ' (' || nullif(process_label, '') || ')')
                )))
            WHEN name = 'process_sort_index' AND $interval_number IS NOT NULL
                THEN json_object(
                    'sort_index', coalesce(sort_index, 0) + $interval_number::BIGINT * 1_000_000_000
                )
        END AS args
    FROM recorded
)

SELECT
    e',\n' || chrome_moved(
        event,
        pid,
        chrome_id(tid),
        greatest(0, time_ns - $origin_ns),
        $interval_number,
        ',"args":' || args
    ) AS text
FROM changed
ORDER BY event_id;
