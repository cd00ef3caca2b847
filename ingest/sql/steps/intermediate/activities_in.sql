-- Activities in windows of time: `activities_in(windows)`, with the name of a relation that has
-- source_id, device_id, start_ns, end_ns and any other columns.
-- One row: an activity of `activity_steps` that is at least partly in a window. `around` is the row
-- of `windows`. The times are those in the window; `dur_ns` is the length of the whole activity.
CREATE MACRO activities_in(windows) AS TABLE
    SELECT
        activity.* REPLACE (
            greatest(activity.start_ns, around.start_ns) AS start_ns,
            least(activity.end_ns, around.end_ns) AS end_ns
        ),
        activity.end_ns - activity.start_ns AS dur_ns,
        around
    FROM activity_steps AS activity
    INNER JOIN query_table(windows) AS around
        ON activity.source_id = around.source_id AND activity.device_id = around.device_id
    WHERE
        activity.class IS NOT NULL
        AND (
            least(activity.end_ns, around.end_ns) > greatest(activity.start_ns, around.start_ns)
            OR (
                activity.end_ns = activity.start_ns
                AND activity.start_ns BETWEEN around.start_ns AND around.end_ns
            )
        );
