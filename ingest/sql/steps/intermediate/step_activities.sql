-- The activities of devices, cut where the step changes.
-- One row: the part of a row of `measured_activities` in a step, or between two steps.
-- Materialised: it is read more than once.
--
-- `inside_ns` is its time in the step. `covered_ns` is the part of that time in which no activity
-- that began earlier still ran. The sum of `covered_ns` is the time in which the device was busy.
WITH activities AS (
    FROM measured_activities WHERE measure = 'device'
)

SELECT
    source_id,
    device_id,
    event_id,
    in_step AS step,
    class,
    start_ns,
    end_ns,
    end_ns - start_ns AS inside_ns,
    greatest(end_ns - greatest(start_ns, reached_ns), 0) AS covered_ns
FROM cut_at_steps('activities');
