-- The moments at which the step of a source changes, from a table or view of steps. An event
-- belongs to the innermost step around it: to the step of the last moment before it.
-- One row: a moment. `step` is the innermost step from then on; `inside` says whether there is one.
CREATE MACRO step_moments(steps) AS TABLE
    WITH
    moments AS (
        SELECT source_id, start_ns AS from_ns FROM query_table(steps)
        UNION
        SELECT source_id, start_ns + dur_ns AS from_ns FROM query_table(steps)
    )

    SELECT
        moments.source_id,
        moments.from_ns,
        arg_max(around.step, (around.start_ns, -around.dur_ns, around.step)) AS step,
        count(around.start_ns) > 0 AS inside
    FROM moments
    LEFT JOIN query_table(steps) AS around
        ON
            moments.source_id = around.source_id
            AND moments.from_ns >= around.start_ns
            AND moments.from_ns < around.start_ns + around.dur_ns
    GROUP BY moments.source_id, moments.from_ns;
