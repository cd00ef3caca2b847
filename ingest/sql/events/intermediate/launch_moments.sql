-- Times at which a thread launched work or recorded a launch, as intervals of one nanosecond for
-- `overlapping`.
-- One row: a time on a lane.
WITH moments AS (
    SELECT lane, launch_ns FROM launches
    UNION  -- noqa: AM02
    SELECT lane, launch_ns FROM recorded_launches
)

SELECT lane, launch_ns AS from_ns, launch_ns + 1 AS to_ns FROM moments;
