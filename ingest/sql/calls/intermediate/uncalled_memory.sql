-- Changes of memory outside all calls of all threads.
-- One row: the changes of a source in a step.
WITH
outermost AS (SELECT event_id FROM placed_calls WHERE caller_path_id = 0),

-- The time at which all calls that have begun so far end. No call outlasts its callers.
reached AS (
    SELECT
        complete.source_id,
        complete.start_ns,
        max(max(complete.end_ns)) OVER (PARTITION BY complete.source_id ORDER BY complete.start_ns)
            AS until_ns
    FROM complete
    SEMI JOIN traced_changes USING (source_id)
    SEMI JOIN outermost USING (event_id)
    GROUP BY complete.source_id, complete.start_ns
),

uncalled AS (
    SELECT action.source_id, action.time_ns, action.device_label, action.change_bytes
    FROM memory_actions AS action
    ASOF LEFT JOIN reached
        ON action.source_id = reached.source_id AND action.time_ns >= reached.start_ns
    WHERE
        action.origin = 'trace'
        AND (reached.until_ns IS NULL OR reached.until_ns < action.time_ns)
)

SELECT
    uncalled.source_id,
    CASE WHEN moment.inside THEN moment.step END AS step,
    count(*) AS calls,
    coalesce(sum(uncalled.change_bytes) FILTER (WHERE uncalled.device_label = 'cpu'), 0)::BIGINT
        AS cpu_bytes,
    coalesce(sum(uncalled.change_bytes) FILTER (WHERE uncalled.device_label <> 'cpu'), 0)::BIGINT
        AS device_bytes
FROM uncalled
ASOF LEFT JOIN step_moments('steps') AS moment
    ON uncalled.source_id = moment.source_id AND uncalled.time_ns >= moment.from_ns
GROUP BY ALL;
