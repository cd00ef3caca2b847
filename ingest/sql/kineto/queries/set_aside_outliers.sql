-- Sets aside complete events of source $source_id that are far from all others: profilers write the
-- time 0, or any other, if they do not know it. Nothing happens for more than $far_ns between two
-- groups of events. Apart from the largest group, those whose events have no duration, and those
-- with less than 1 % of the largest group's events, become events without a valid time. Their text
-- is rebuilt from the columns.
UPDATE staged
SET
    side = NULL,
    relative_ns = NULL,
    args = concat(
        '{"ph":"X","cat":',
        coalesce(to_json(coalesce(older_category, category))::VARCHAR, 'null'),
        ',"name":',
        to_json(name),
        ',"pid":',
        coalesce(chrome_id(pid), 'null'),
        ',"tid":',
        coalesce(chrome_id(tid), 'null'),
        ',"id":' || to_json(id),
        ',"ts":',
        chrome_us(relative_ns),
        ',"dur":',
        chrome_us(dur_ns),
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
            coalesce(relative_ns - max(relative_ns + dur_ns) OVER earlier > $far_ns, FALSE)
                AS is_apart
        FROM staged
        WHERE source_id = $source_id AND side IS NOT NULL
        WINDOW earlier AS (
            ORDER BY relative_ns, event_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
    ),

    grouped AS (
        SELECT
            *,
            count_if(is_apart) OVER (ORDER BY relative_ns, event_id) AS number
        FROM ordered
    ),

    sized AS (
        SELECT
            number,
            sum(dur_ns) AS sum_ns,
            count(*) AS events,
            row_number() OVER (ORDER BY events DESC, sum_ns DESC, number) AS place,
            max(events) OVER () AS most_events
        FROM grouped
        GROUP BY number
    )

    SELECT grouped.event_id
    FROM grouped
    INNER JOIN sized ON grouped.number = sized.number
    WHERE sized.place > 1 AND (sized.sum_ns = 0 OR sized.events * 100 < sized.most_events)
);
