-- Time of each combination of classes of activities that ran at once on a device:
-- `class_overlap(run, from_step, to_step)`. Without a run it is about all runs, without steps
-- about whole recordings.
-- One row: a combination of classes on a device, in these steps.
--
-- The combinations are disjoint: they add up to the busy time of the device. In steps, only the
-- activities that these launched count.
--
-- run_id, rank, device
-- classes  the classes that ran: a list of communication, compute, memcpy and memset, in this order
-- dur_ns   time in which exactly the listed classes ran, ns
-- percent  share of the device's busy time, 0 to 100
CREATE MACRO class_overlap(run := NULL, from_step := NULL, to_step := NULL) AS TABLE
    WITH
    activities AS (
        SELECT
            run_id,
            struct_pack(rank, device) AS lane,
            start_ns,
            start_ns + dur_ns AS end_ns,
            (class = 'communication')::INTEGER AS communication,
            (class = 'compute')::INTEGER AS compute,
            (class = 'copy' AND kind = 'memcpy')::INTEGER AS memcpy,
            (class = 'copy' AND kind = 'memset')::INTEGER AS memset
        FROM kernels
        WHERE is_asked(run_id, step, run, from_step, to_step)
    ),

    intervals AS (
        SELECT
            run_id,
            lane,
            list_filter(
                [
                    if(communication > 0, 'communication', NULL),
                    if(compute > 0, 'compute', NULL),
                    if(memcpy > 0, 'memcpy', NULL),
                    if(memset > 0, 'memset', NULL)
                ],
                LAMBDA each: each IS NOT NULL
            ) AS classes,
            end_ns - start_ns AS dur_ns
        FROM swept('activities')
    )

    SELECT
        run_id,
        lane.*,
        classes,
        sum(dur_ns)::BIGINT AS dur_ns,
        100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER on_device, 0) AS percent
    FROM intervals
    WHERE len(classes) > 0
    GROUP BY run_id, lane, classes
    WINDOW on_device AS (PARTITION BY run_id, lane);
