-- The innermost step around the start of events that nest on no thread; `host_nest` has that of the
-- others. A device activity has the step of its launch. A `gpu_user_annotation` has the step of its
-- annotation on the host; without one, the step around its own start.
-- One row: an event inside a step.
WITH
annotations AS (
    SELECT source_id, external_id, name, min(start_ns) AS start_ns
    FROM complete
    WHERE category = 'user_annotation' AND external_id > 0
    GROUP BY source_id, external_id, name
),

asked AS (
    SELECT
        event.source_id,
        event.event_id,
        coalesce(annotations.start_ns, event.start_ns) AS asked_ns
    FROM complete AS event
    LEFT JOIN annotations
        ON
            event.category = 'gpu_user_annotation'
            AND event.source_id = annotations.source_id
            AND event.external_id = annotations.external_id
            AND event.name = annotations.name
    WHERE event.side = 'annotation'
)

SELECT asked.event_id, moment.step
FROM asked
ASOF INNER JOIN step_moments('steps') AS moment
    ON asked.source_id = moment.source_id AND asked.asked_ns >= moment.from_ns
WHERE moment.inside
UNION ALL
SELECT event_id, step FROM kernels WHERE step IS NOT NULL;
