-- Spans on devices, cut where the step changes: `cut_at_steps(spans)`. `spans` has source_id,
-- device_id, start_ns, end_ns and any other columns; the spans are inside of `work_windows`.
-- One row: the part of a span in a window of `step_windows`; `in_step` is the step of the window.
CREATE MACRO cut_at_steps(spans) AS TABLE
    WITH
    windows AS (FROM step_windows WHERE until_ns > from_ns),

    first_parts AS MATERIALIZED (
        SELECT span.*, around.step AS in_step, around.until_ns
        FROM query_table(spans) AS span
        ASOF LEFT JOIN windows AS around
            ON
                span.source_id = around.source_id
                AND span.device_id = around.device_id
                AND span.start_ns >= around.from_ns
    )

    SELECT * EXCLUDE (until_ns) REPLACE (least(end_ns, until_ns) AS end_ns)
    FROM first_parts
    UNION ALL BY NAME
    SELECT
        first_part.* EXCLUDE (until_ns) REPLACE (
            later.from_ns AS start_ns,
            least(first_part.end_ns, later.until_ns) AS end_ns,
            later.step AS in_step
        )
    FROM first_parts AS first_part
    INNER JOIN windows AS later
        ON
            first_part.source_id = later.source_id
            AND first_part.device_id = later.device_id
            AND first_part.until_ns <= later.from_ns
            AND first_part.end_ns > later.from_ns
    WHERE first_part.end_ns > first_part.until_ns;
