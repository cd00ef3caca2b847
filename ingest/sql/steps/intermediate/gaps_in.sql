-- Idle gaps in windows of time: `gaps_in(windows)`, as `activities_in`.
-- One row: a gap of `bubbles` that is partly in a window. `around` is the row of `windows`, and
-- `gap` the row of `bubbles`. The times are those in the window.
CREATE MACRO gaps_in(windows) AS TABLE
    SELECT
        around,
        gap,
        greatest(gap.start_ns, around.start_ns) AS start_ns,
        least(gap.start_ns + gap.dur_ns, around.end_ns) AS end_ns
    FROM bubbles AS gap
    INNER JOIN query_table(windows) AS around
        ON
            gap.source_id = around.source_id
            AND gap.device_id = around.device_id
            AND gap.start_ns < around.end_ns
            AND gap.start_ns + gap.dur_ns > around.start_ns;
