-- How unevenly the ranks of a run are loaded, by operator, module and kernel, and by memory.
-- One row: a name at one level, in a run of several ranks.
--
-- A rank's value is its mean over its measured steps, or over its whole recording if no steps were
-- found. Communication does not count, because it contains waiting (`collectives`). A rank without
-- an operator, module or kernel counts as 0 if a rank that is expected to do the same work has it
-- (`rank_peers`).
--
-- run_id
-- level              op (outermost operator, as in `op_ranking`; on a host, as in
--                    `host_op_ranking`), module, kernel, or memory (peak of the devices of a type)
-- name               name of the operator or kernel; path of module classes, outermost first,
--                    without torch's numbers, as in `module_diff`; type of the device
-- measure            device, for the time on devices; host, in ranks without a device
-- ranks              number of ranks that have it
-- compared_ranks     number of ranks that were compared
-- max_rank           the rank with the most; of several, the lowest one
-- mean_ns            mean over the compared ranks, ns per step; null for memory
-- min_ns             least value of a rank, ns per step; null for memory
-- median_ns          median over the compared ranks, ns per step; null for memory
-- max_ns             greatest value of a rank, ns per step; null for memory
-- excess_ns          greatest value minus median: what balancing the ranks can save at most, ns per
--                    step; null for memory
-- mean_bytes         mean over the ranks, bytes; null for time
-- min_bytes          lowest peak of a rank, bytes; null for time
-- median_bytes       median over the ranks, bytes; null for time
-- max_bytes          highest peak of a rank, bytes; null for time
-- excess_bytes       highest peak minus median, bytes; null for time
-- imbalance_percent  by how much the greatest value exceeds the mean, percent; null if that is 0
WITH
-- Not materialised, so that a query of one run reads only its files.
peers AS NOT MATERIALIZED (
    SELECT
        run_id,
        rank,
        any_value(peers.lowest_peer) AS lowest_peer,
        min(metrics.measure) AS measure,
        bool_and(metrics.steps_from = 'run') AS is_whole,
        max(metrics.steps) AS steps
    FROM rank_peers AS peers
    INNER JOIN run_metrics AS metrics USING (run_id, rank)
    GROUP BY run_id, rank
),

module_paths AS (
    SELECT
        inside.run_id,
        inside.module_id,
        regexp_replace(around.module, '_[0-9]+(/|$)', '\1', 'g') AS name
    FROM (SELECT run_id, module_id, unnest(around) AS around_id FROM module_tree) AS inside
    INNER JOIN module_tree AS around
        ON inside.run_id = around.run_id AND inside.around_id = around.module_id
),

module_times AS (
    SELECT
        launched.run_id,
        launched.rank,
        'device' AS measure,
        launched.module_id,
        sum(launched.device_ns) AS ns
    FROM launched_kernels AS launched
    INNER JOIN peers ON launched.run_id = peers.run_id AND launched.rank = peers.rank
    WHERE
        launched.module_id IS NOT NULL
        AND (peers.is_whole OR launched.step IS NOT NULL)
        AND NOT is_communication(launched.name)
    GROUP BY ALL
    UNION ALL
    SELECT calls.run_id, calls.rank, 'host' AS measure, calls.module_id, sum(calls.self_ns) AS ns
    FROM call_tree AS calls
    INNER JOIN peers ON calls.run_id = peers.run_id AND calls.rank = peers.rank
    WHERE
        calls.module_id IS NOT NULL
        AND (peers.is_whole OR calls.step IS NOT NULL)
        AND NOT starts_with(ltrim(calls.name, '_'), 'c10d')
    GROUP BY ALL
),

work AS (
    SELECT
        ranked.run_id,
        ranked.rank,
        'device' AS measure,
        ranked.level,
        ranked.name,
        sum(ranked.dur_ns) AS ns
    FROM ranked_kernels AS ranked
    INNER JOIN peers ON ranked.run_id = peers.run_id AND ranked.rank = peers.rank
    WHERE
        ranked.level IN ('op', 'kernel')
        AND ranked.class <> 'communication'
        AND (peers.is_whole OR ranked.step IS NOT NULL)
    GROUP BY ALL
    UNION ALL
    SELECT
        ops.run_id,
        ops.rank,
        'host' AS measure,
        'op' AS level,
        ops.name,
        sum(ops.self_ns) AS ns
    FROM ops
    INNER JOIN peers ON ops.run_id = peers.run_id AND ops.rank = peers.rank
    WHERE
        is_ranked_on_host(ops.category, ops.name)
        AND (peers.is_whole OR ops.step IS NOT NULL)
        AND NOT starts_with(ltrim(ops.name, '_'), 'c10d')
    GROUP BY ALL
    UNION ALL
    SELECT
        sums.run_id,
        sums.rank,
        sums.measure,
        'module' AS level,
        paths.name,
        sum(sums.ns) AS ns
    FROM module_times AS sums
    INNER JOIN module_paths AS paths
        ON sums.run_id = paths.run_id AND sums.module_id = paths.module_id
    GROUP BY ALL
),

timed AS (
    SELECT work.*, peers.lowest_peer, work.ns / peers.steps AS value
    FROM work
    INNER JOIN peers USING (run_id, rank, measure)
),

-- The ranks of which a level is known, for all names of their peers.
expected AS (
    SELECT names.*, known.rank
    FROM (SELECT DISTINCT run_id, measure, level, lowest_peer, name FROM timed) AS names
    INNER JOIN (SELECT DISTINCT run_id, measure, level, lowest_peer, rank FROM timed) AS known
        USING (run_id, measure, level, lowest_peer)
),

-- As in `run_metrics`, the best source of a device's peak counts.
device_peaks AS (
    SELECT
        memory.run_id,
        memory.rank,
        memory.device_type,
        memory.device_id,
        arg_min(
            memory.peak_bytes,
            (
                list_position(['snapshot', 'trace', 'timeline'], memory.origin),
                -memory.peak_bytes
            )
        ) AS peak_bytes
    FROM memory_peak AS memory
    GROUP BY ALL
),

loads AS (
    SELECT
        expected.* EXCLUDE (lowest_peer),
        timed.value IS NOT NULL AS is_present,
        coalesce(timed.value, 0) AS value
    FROM expected
    LEFT JOIN timed USING (run_id, measure, level, name, rank)
    UNION ALL BY NAME
    SELECT
        run_id,
        rank,
        if(device_type = 'cpu', 'host', 'device') AS measure,
        'memory' AS level,
        device_type AS name,
        TRUE AS is_present,
        max(peak_bytes) AS value
    FROM device_peaks
    GROUP BY ALL
),

spreads AS (
    SELECT
        run_id,
        level,
        name,
        measure,
        count(*) FILTER (WHERE is_present) AS ranks,
        count(*) AS compared_ranks,
        arg_min(rank, (-value, rank)) AS max_rank,
        avg(value) AS mean,
        min(value) AS least,
        median(value) AS middle,
        max(value) AS greatest
    FROM loads
    GROUP BY ALL
    HAVING count(*) > 1
)

SELECT
    run_id,
    level,
    name,
    measure,
    ranks,
    compared_ranks,
    max_rank,
    if(level = 'memory', NULL, mean) AS mean_ns,
    if(level = 'memory', NULL, least)::BIGINT AS min_ns,
    if(level = 'memory', NULL, middle)::BIGINT AS median_ns,
    if(level = 'memory', NULL, greatest)::BIGINT AS max_ns,
    if(level = 'memory', NULL, greatest - middle)::BIGINT AS excess_ns,
    if(level = 'memory', mean, NULL) AS mean_bytes,
    if(level = 'memory', least, NULL)::BIGINT AS min_bytes,
    if(level = 'memory', middle, NULL)::BIGINT AS median_bytes,
    if(level = 'memory', greatest, NULL)::BIGINT AS max_bytes,
    if(level = 'memory', greatest - middle, NULL)::BIGINT AS excess_bytes,
    100.0 * (greatest / nullif(mean, 0) - 1) AS imbalance_percent
FROM spreads;
