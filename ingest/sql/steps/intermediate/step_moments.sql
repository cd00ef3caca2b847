-- The times at which the step of an input file changes, from a table or view of steps:
-- `step_moments(steps)`. An event belongs to the innermost step around it, which is the step of the
-- last change before it.
-- One row: a change. `step` is the innermost step from that time; `inside` is whether there is one.
CREATE MACRO step_moments(steps) AS TABLE
    WITH
    in_order AS (
        SELECT
            *,
            max(start_ns + dur_ns) OVER (
                in_time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS reached_ns
        FROM query_table(steps)
        WINDOW in_time AS (PARTITION BY source_id ORDER BY start_ns, dur_ns DESC)
    ),

    -- Overlapping steps form an island. A join within islands stays fast with many steps.
    islands AS (
        SELECT
            *,
            count(*) FILTER (WHERE reached_ns IS NULL OR start_ns >= reached_ns) OVER (
                PARTITION BY source_id ORDER BY start_ns, dur_ns DESC ROWS UNBOUNDED PRECEDING
            ) AS island
        FROM in_order
    ),

    moments AS (
        SELECT source_id, island, start_ns AS from_ns FROM islands
        UNION
        SELECT source_id, island, start_ns + dur_ns AS from_ns FROM islands
    )

    SELECT
        moments.source_id,
        moments.from_ns,
        arg_max(around.step, (around.start_ns, -around.dur_ns, around.step)) AS step,
        count(around.start_ns) > 0 AS inside
    FROM moments
    LEFT JOIN islands AS around
        ON
            moments.source_id = around.source_id
            AND moments.island = around.island
            AND moments.from_ns >= around.start_ns
            AND moments.from_ns < around.start_ns + around.dur_ns
    GROUP BY moments.source_id, moments.from_ns;
