-- Intervals in which a set of device activities leaves no gap: `islands(activities)`. `activities`
-- names a table or view with the columns source_id, device_id, start_ns, dur_ns and event_id.
-- One row: a maximal union of activities that touch or overlap.
CREATE MACRO islands(activities) AS TABLE
    WITH
    reached AS (
        SELECT
            source_id,
            device_id,
            event_id,
            start_ns,
            start_ns + dur_ns AS end_ns,
            max(start_ns + dur_ns) OVER (
                PARTITION BY source_id, device_id ORDER BY start_ns, event_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS reached_ns
        FROM query_table(activities)
    ),

    numbered AS (
        SELECT
            *,
            -- A count with a FILTER takes thirty times as long here.
            sum(CASE WHEN start_ns <= reached_ns THEN 0 ELSE 1 END) OVER (
                PARTITION BY source_id, device_id
                ORDER BY start_ns, event_id ROWS UNBOUNDED PRECEDING
            ) AS island
        FROM reached
    )

    SELECT
        source_id,
        device_id,
        island,
        count(*) AS activities,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns,
        arg_min(event_id, (start_ns, event_id)) AS first_id,
        arg_max(event_id, (end_ns, event_id)) AS last_id
    FROM numbered
    GROUP BY source_id, device_id, island;
