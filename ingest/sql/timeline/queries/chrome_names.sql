-- The names and the order of processes and threads, as recorded. In a file that holds several ranks
-- or runs, $label stands before the name of each process, and $place puts them in order.
-- One row: a metadata event, as JSON after a comma.
SELECT
    e',\n' || json_merge_patch(event, concat(
        '{"pid":',
        chrome_pid(pid, $place),
        ',"ts":',
        chrome_us(greatest(0, time_ns - $origin_ns)),
        CASE
            WHEN $place IS NULL THEN ''
            WHEN name = 'process_name'
                THEN concat(
                    ',"args":{"name":', to_json(concat_ws(': ', $label, event ->> '$.args.name')), '}'
                )
            WHEN name = 'process_sort_index'
                THEN concat(
                    ',"args":{"sort_index":',
                    coalesce(try_cast(event ->> '$.args.sort_index' AS BIGINT), 0)
                    + $place * 1_000_000_000,
                    '}'
                )
            ELSE ''
        END,
        '}'
    ))::VARCHAR AS text
FROM other_events
WHERE
    run_id = $run
    AND rank = $rank
    AND phase = 'M'
    AND category IS DISTINCT FROM 'tracehouse';
