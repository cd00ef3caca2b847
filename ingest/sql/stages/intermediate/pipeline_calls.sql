-- Calls of pipelines. If pipelines call each other, only the outermost call counts. A call that
-- began before the recording has no label; a call that the recording cut off ends with the
-- recording.
-- One row: a call. `call` numbers the calls of an input file, from 1.
-- Materialised: several relations read it.
WITH reached AS (
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY lane ORDER BY start_ns, end_ns DESC, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_ns
    FROM stage_marks
    WHERE kind = 'pipeline'
)

SELECT
    source_id,
    rank,
    lane,
    event_id,
    label AS pipeline,
    row_number() OVER (PARTITION BY source_id ORDER BY start_ns, event_id) AS call,
    start_ns,
    end_ns
FROM reached
WHERE reached_ns IS NULL OR start_ns >= reached_ns;
