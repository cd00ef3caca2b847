-- The steps of events that are not nested on a thread; `host_nest` has the steps of the others. A
-- device activity has the step of its launch. A `gpu_user_annotation` has the step of its
-- annotation on the host; if there is none, the step around its start.
-- One row: an event inside a step.
WITH
annotations AS (
    SELECT source_id, external_id, name, min(start_ns) AS start_ns
    FROM complete
    WHERE category = 'user_annotation' AND external_id > 0
    GROUP BY source_id, external_id, name
),

lookups AS (
    SELECT
        event.source_id,
        event.event_id,
        coalesce(annotations.start_ns, event.start_ns) AS lookup_ns
    FROM complete AS event
    LEFT JOIN annotations
        ON
            event.category = 'gpu_user_annotation'
            AND event.source_id = annotations.source_id
            AND event.external_id = annotations.external_id
            AND event.name = annotations.name
    WHERE event.side = 'annotation'
)

SELECT lookups.event_id, moment.step
FROM lookups
ASOF INNER JOIN step_moments('steps') AS moment
    ON lookups.source_id = moment.source_id AND lookups.lookup_ns >= moment.from_ns
WHERE moment.inside
UNION ALL
SELECT event_id, step FROM kernels WHERE step IS NOT NULL;
