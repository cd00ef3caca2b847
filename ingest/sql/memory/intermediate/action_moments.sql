-- Times at which a device's allocator acted, to find the position of marks and steps among its
-- actions.
-- One row: a time, with the last action at that time; only for sources that have marks or steps.
SELECT source_id, device_label, time_ns, max(ordinal) AS ordinal
FROM memory_actions
WHERE
    time_ns IS NOT NULL
    AND (
        source_id IN (SELECT marks.source_id FROM staged_marks AS marks)
        OR (SELECT count(*) FROM profiler_steps) > 0
    )
GROUP BY source_id, device_label, time_ns;
