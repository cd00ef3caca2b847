-- How each comp node of MegEngine spent the time from its first start to its last end, by its own
-- clock.
-- One row: a comp node.
--
-- A comp node runs the host's work in order. It idles between two operators, and between the start
-- of an operator and its first kernel. The reason is that the host had not issued work yet, unless
-- the operator waits for results of another comp node. The parts add up to the span if operators do
-- not overlap.
--
-- run_id, source_id, rank, comp_node, device, stream
-- oprs        number of operators on it
-- span_ns     time from the first start to the last end, ns
-- kernel_ns   time in kernels, ns
-- wait_ns     time from start to first kernel of the operators that wait for other comp nodes, ns
-- host_ns     time from start to first kernel of all other operators, ns: the host prepares the
--             kernel
-- between_ns  time between operators, ns: the host had not issued one
WITH times AS (
    SELECT
        run_id,
        source_id,
        waits_for,
        unnest(device_times) AS time
    FROM megengine_oprs
),

ordered AS (
    SELECT
        run_id,
        source_id,
        waits_for,
        time.comp_node,
        time.start_s,
        time.kern_s,
        time.end_s,
        time.start_s - max(time.end_s) OVER (
            PARTITION BY run_id, source_id, time.comp_node ORDER BY time.start_s, time.event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS after_s
    FROM times
    WHERE isfinite(time.start_s) AND isfinite(time.end_s) AND isfinite(coalesce(time.kern_s, 0))
),

summed AS (
    SELECT
        run_id,
        source_id,
        comp_node,
        count(*) AS oprs,
        max(end_s) - min(start_s) AS span_s,
        sum(end_s - coalesce(kern_s, start_s)) AS kernel_s,
        coalesce(sum(kern_s - start_s) FILTER (WHERE waits_for IS NOT NULL), 0) AS wait_s,
        coalesce(sum(kern_s - start_s) FILTER (WHERE waits_for IS NULL), 0) AS host_s,
        coalesce(sum(greatest(after_s, 0)), 0) AS between_s
    FROM ordered
    GROUP BY run_id, source_id, comp_node
)

SELECT
    run_id,
    source_id,
    node.rank,
    comp_node,
    node.device,
    node.stream,
    summed.oprs,
    seconds_to_ns(summed.span_s) AS span_ns,
    seconds_to_ns(summed.kernel_s) AS kernel_ns,
    seconds_to_ns(summed.wait_s) AS wait_ns,
    seconds_to_ns(summed.host_s) AS host_ns,
    seconds_to_ns(summed.between_s) AS between_ns
FROM summed
INNER JOIN megengine_comp_nodes AS node USING (run_id, source_id, comp_node);
