-- The step that each event belongs to: where it began, or for a device activity was launched.
-- One row: an event inside a step.
-- Materialised: several relations read it.
SELECT events.event_id, steps.step
FROM (SELECT source_id, event_id, start_ns FROM complete WHERE side <> 'device') AS events
ASOF INNER JOIN steps
    ON events.source_id = steps.source_id AND events.start_ns >= steps.start_ns
WHERE events.start_ns < steps.start_ns + steps.dur_ns
UNION ALL
SELECT event_id, step FROM kernels WHERE step IS NOT NULL;
