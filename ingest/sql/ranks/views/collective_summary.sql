-- Collectives by process group, kind and size: how long they take, and how fast they are.
-- One row: a kind of collective in a process group with the same number of bytes.
--
-- run_id, process_group_id
-- group_name       name of the process group; null if unknown
-- kind             kind of collective, as in `collectives`
-- dtype            type of the elements, as torch names it
-- bytes            bytes that a rank gives or gets, the larger of both; null if unknown
-- calls            number of calls of the group; of unmatched ones, of each rank
-- matched_calls    number of calls that several ranks recorded
-- ranks            largest number of ranks with the same call
-- median_dur_ns    median duration on a rank, ns
-- transfer_ns      median over the calls of the shortest transfer of a rank, ns: the latency; null
--                  if no call is matched
-- skew_ns          median time between the first and the last rank that came, ns
-- max_skew_ns      largest such time, ns
-- wait_ns          sum of the time for which ranks waited, ns
-- algorithm_gb_per_s  median algorithm bandwidth of the calls, 10⁹ bytes per second
-- bus_gb_per_s     median bus bandwidth of the calls, 10⁹ bytes per second
WITH calls AS (
    SELECT
        run_id,
        process_group_id,
        kind,
        dtype,
        if(is_matched, ordinal, collective_id) AS call,
        is_matched,
        max(greatest(in_bytes, out_bytes)) AS bytes,
        max(ranks) AS ranks,
        median(dur_ns) AS dur_ns,
        min(transfer_ns) AS transfer_ns,
        max(lateness_ns) AS skew_ns,
        sum(wait_ns) AS wait_ns,
        max(algorithm_gb_per_s) AS algorithm_gb_per_s,
        max(bus_gb_per_s) AS bus_gb_per_s
    FROM collectives
    GROUP BY
        run_id,
        process_group_id,
        cycle,
        kind,
        dtype,
        if(is_matched, ordinal, collective_id),
        is_matched,
        -- Point-to-point calls are numbered for each pair of ranks.
        if(peer_rank IS NULL, NULL, collectives.rank),
        peer_rank
)

SELECT
    calls.run_id,
    calls.process_group_id,
    any_value(groups.name) AS group_name,
    calls.kind,
    calls.dtype,
    calls.bytes,
    count(*) AS calls,
    count(*) FILTER (WHERE calls.is_matched) AS matched_calls,
    max(calls.ranks) AS ranks,
    median(calls.dur_ns)::BIGINT AS median_dur_ns,
    median(calls.transfer_ns)::BIGINT AS transfer_ns,
    median(calls.skew_ns)::BIGINT AS skew_ns,
    max(calls.skew_ns) AS max_skew_ns,
    sum(calls.wait_ns)::BIGINT AS wait_ns,
    median(calls.algorithm_gb_per_s) AS algorithm_gb_per_s,
    median(calls.bus_gb_per_s) AS bus_gb_per_s
FROM calls
LEFT JOIN process_groups AS groups
    ON
        calls.run_id = groups.run_id
        AND calls.process_group_id = groups.process_group_id
GROUP BY calls.run_id, calls.process_group_id, calls.kind, calls.dtype, calls.bytes;
