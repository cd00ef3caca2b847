-- Time in which different classes of activities ran at once on a device: `class_overlap(by_step)`.
-- One row: a combination of classes on a device, in the whole recording or in a step.
--
-- The combinations are disjoint: they add up to the busy time of the device. In a step, only the
-- activities that the step launched count.
--
-- run_id   the run
-- rank     rank of the process
-- device   number of the device
-- step     step in which the activities were launched (`steps.step`); null outside steps, and
--          without `by_step`
-- classes  the classes that ran: a list of communication, compute, memcpy and memset, in this order
-- dur_ns   time in which exactly the listed classes ran, ns
-- percent  share of the device's busy time, 0 to 100
CREATE MACRO class_overlap(by_step := FALSE) AS TABLE
    WITH
    edges AS (
        SELECT
            run_id,
            rank,
            device,
            if(by_step, step, NULL) AS of_step,
            if(class = 'copy', kind, class) AS of_class,
            unnest([start_ns, start_ns + dur_ns]) AS time_ns,
            unnest([1, -1]) AS change
        FROM kernels
    ),

    moments AS (
        SELECT
            run_id,
            rank,
            device,
            of_step,
            time_ns,
            sum(change) FILTER (WHERE of_class = 'communication') AS communication,
            sum(change) FILTER (WHERE of_class = 'compute') AS compute,
            sum(change) FILTER (WHERE of_class = 'memcpy') AS memcpy,
            sum(change) FILTER (WHERE of_class = 'memset') AS memset
        FROM edges
        GROUP BY run_id, rank, device, of_step, time_ns
    ),

    intervals AS (
        SELECT
            run_id,
            rank,
            device,
            of_step,
            list_filter(
                [
                    if(sum(communication) OVER so_far > 0, 'communication', NULL),
                    if(sum(compute) OVER so_far > 0, 'compute', NULL),
                    if(sum(memcpy) OVER so_far > 0, 'memcpy', NULL),
                    if(sum(memset) OVER so_far > 0, 'memset', NULL)
                ],
                LAMBDA each: each IS NOT NULL
            ) AS classes,
            lead(time_ns) OVER so_far - time_ns AS dur_ns
        FROM moments
        WINDOW so_far AS (PARTITION BY run_id, rank, device, of_step ORDER BY time_ns)
    )

    SELECT
        run_id,
        rank,
        device,
        of_step AS step,
        classes,
        sum(dur_ns)::BIGINT AS dur_ns,
        100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER on_device, 0) AS percent
    FROM intervals
    WHERE len(classes) > 0
    GROUP BY run_id, rank, device, of_step, classes
    WINDOW on_device AS (PARTITION BY run_id, rank, device, of_step);
