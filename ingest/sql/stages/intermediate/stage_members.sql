-- Device activities, outermost operators and operators with known work in pipeline calls.
-- One row: an activity or operator, by kind, with the interval of `stage_stretches` to which it
-- belongs. That is the interval at that time on its own thread, or else on the calling thread. If
-- several threads call pipelines, it is that of the call whose stage changed last.
-- Materialised: several relations read it.
WITH found AS (
    SELECT
        work.source_id,
        work.event_id,
        work.kind,
        if(work.at_ns < own.end_ns, own, if(work.at_ns < same_time.end_ns, same_time, NULL))
            AS stretch
    FROM stage_candidates AS work
    ASOF LEFT JOIN stage_stretches AS own
        ON work.lane = own.lane AND work.at_ns >= own.start_ns
    ASOF INNER JOIN stage_stretches AS same_time
        ON work.source_id = same_time.source_id AND work.at_ns >= same_time.start_ns
)

SELECT
    source_id,
    event_id,
    kind,
    stretch.call,
    stretch.stage,
    stretch.step,
    stretch.block_class
FROM found
WHERE stretch IS NOT NULL;
