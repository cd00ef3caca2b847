-- Sets aside complete events of source $source_id that are hours away from the others: profilers
-- write the time 0, or any other, if they do not know it. Events belong together if no two
-- neighbours are an hour apart. Only the largest group keeps its times; the other events become
-- events without a valid time. Their text is rebuilt from the columns.
UPDATE staged
SET
    side = NULL,
    relative_ns = NULL,
    args = concat(
        '{"ph":"X","cat":',
        to_json(coalesce(older_category, category)),
        ',"name":',
        to_json(name),
        ',"pid":',
        coalesce(try_cast(pid AS BIGINT)::VARCHAR, to_json(pid)::VARCHAR, 'null'),
        ',"tid":',
        coalesce(try_cast(tid AS BIGINT)::VARCHAR, to_json(tid)::VARCHAR, 'null'),
        ',"ts":',
        (relative_ns / 1000)::DECIMAL(38, 3),
        ',"dur":',
        (dur_ns / 1000)::DECIMAL(38, 3),
        ',"args":',
        coalesce(args::VARCHAR, 'null'),
        '}'
    )
WHERE event_id IN (
    WITH
    ordered AS (
        SELECT
            event_id,
            relative_ns,
            dur_ns,
            relative_ns - lag(relative_ns, 1, relative_ns) OVER in_time > 3_600_000_000_000
                AS is_apart
        FROM staged
        WHERE source_id = $source_id AND side IS NOT NULL
        WINDOW in_time AS (ORDER BY relative_ns, event_id)
    ),

    grouped AS (
        SELECT
            *,
            count_if(is_apart) OVER (ORDER BY relative_ns, event_id) AS number
        FROM ordered
    ),

    largest AS (
        SELECT number
        FROM grouped
        GROUP BY number
        ORDER BY count(*) DESC, sum(dur_ns) DESC, number
        LIMIT 1
    )

    SELECT event_id
    FROM grouped
    WHERE number <> (FROM largest)
);
