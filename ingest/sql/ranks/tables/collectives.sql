-- Collectives and point-to-point calls of all ranks, matched across ranks: who waited, and how fast
-- the transfer was.
-- One row: a rank's part of a call: a kernel, or on the host the call's work.
-- Materialised: `stragglers` and its file are made from it.
--
-- The calls of a process group are matched by their recorded numbers, or else by their order.
-- Corrected times are on the reference clock of the rank (`rank_clocks.reference_rank`). Times of
-- ranks with other references are not compared.
--
-- run_id, source_id, rank, device_id
-- collective_id       the kernel or the host's annotation of the work (`events.event_id`)
-- op_id               the operator that made the call (`ops.event_id`); null if unknown
-- stream              stream of the kernel; null on a host
-- step                step of the call (`steps.step`)
-- process_group_id    its process group (`process_groups.process_group_id`); null if unknown
-- cycle               cycle of the profiler in which it was recorded, from 1
-- ordinal             number of the call in its process group, the same on all ranks; of
--                     point-to-point calls, between the two ranks; null if unknown
-- kind                all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce,
--                     gather, scatter, barrier, send, recv, or send_recv for several point-to-point
--                     calls in a kernel; null if unknown
-- dtype               type of the elements, as torch names it
-- in_elements         number of elements that the rank gives; null if not recorded
-- out_elements        number of elements that it gets; null if not recorded
-- in_bytes            bytes that it gives; null if unknown
-- out_bytes           bytes that it gets; null if unknown
-- peer_rank           the other rank of a point-to-point call
-- start_ns            Unix time at which it began, as recorded, ns
-- dur_ns
-- corrected_start_ns  the same on the reference clock, ns; null if the clock is unknown
-- uncertainty_ns      uncertainty of the corrected time, ns; null if unknown
-- is_matched          whether the same call of another rank is known
-- unmatched_reason    why it is not: no_group (the group is unknown), no_kind (the kind is unknown,
--                     or the kernel has several point-to-point calls), ambiguous (several calls of
--                     another rank fit), no_order (no call of another rank fits), no_peer (the
--                     other rank recorded no such call), one_rank (no other rank recorded it) or
--                     mismatch (ranks with the same number called another kind or type)
-- ranks               number of ranks with the call
-- is_bound            whether ranks of the group are missing: then the wait is at least `wait_ns`
-- wait_ns             time for which the rank waited for others, ns: until the last rank came; in a
--                     broadcast or reduce, until the root came. Null if unmatched, if the clock of
--                     a rank is unknown, and without a recorded root
-- transfer_ns         rest of its duration, ns; null if the wait is unknown
-- lateness_ns         how much later than the first rank it came, ns; null if unmatched, and if the
--                     clock of a rank is unknown
-- ends_spread_ns      time between the ends of the first and the last rank, ns; null if the ends of
--                     this kind differ anyway
-- is_last             whether the rank came last, and later than the first one by more than the
--                     spread of the ends and the uncertainty; in a broadcast or reduce, whether the
--                     root did. Null if that is unknown
-- late_ns             how much later than the next rank the last one came, ns; null for the others,
--                     and if it is less than the spread of the ends or the uncertainty
-- algorithm_gb_per_s  bytes, of the larger side, by transfer time, 10⁹ bytes per second
-- bus_gb_per_s        bus bandwidth by NCCL's definition, 10⁹ bytes per second
WITH
corrected AS (
    SELECT
        calls.*,
        calls.unmatched_reason IS NULL AS is_matched,
        calls.start_ns - clock_offset(clocks, calls.start_ns) AS corrected_start_ns,
        clock_uncertainty(clocks, calls.start_ns) AS uncertainty_ns,
        clocks.reference_rank,
        calls.kind IN ('broadcast', 'reduce') AS has_root,
        calls.rank = if(
            groups.member_ranks IS NULL, calls.root_rank, groups.member_ranks[calls.root_rank + 1]
        ) AS is_root,
        groups.group_size
    FROM matched_collectives AS calls
    LEFT JOIN rank_clocks AS clocks ON calls.rank = clocks.rank
    LEFT JOIN process_groups AS groups ON calls.process_group_id = groups.process_group_id
),

compared AS (
    SELECT
        *,
        if(
            has_root,
            any_value(corrected_start_ns) FILTER (WHERE is_root) OVER same_call,
            max(corrected_start_ns) OVER same_call
        ) AS awaited_ns,
        min(corrected_start_ns) OVER same_call AS first_ns,
        max(corrected_start_ns) OVER same_call AS last_ns,
        -- Of the difference between the first and the last start. Ranks on one clock have none.
        CASE
            WHEN bool_or(uncertainty_ns IS NULL) OVER same_call THEN NULL
            WHEN
                arg_min(clock, row(corrected_start_ns, rank)) OVER same_call
                <> arg_max(clock, row(corrected_start_ns, rank)) OVER same_call
                THEN sqrt(
                    pow(arg_min(uncertainty_ns, row(corrected_start_ns, rank)) OVER same_call, 2)
                    + pow(arg_max(uncertainty_ns, row(corrected_start_ns, rank)) OVER same_call, 2)
                )
            ELSE 0
        END AS call_uncertainty_ns,
        -- The last rank, and the one before it.
        arg_max(
            struct_pack(
                start_ns := corrected_start_ns, clock := clock, uncertainty_ns := uncertainty_ns
            ),
            corrected_start_ns,
            2
        ) OVER same_call AS latest,
        max(corrected_start_ns + dur_ns) OVER same_call
        - min(corrected_start_ns + dur_ns) OVER same_call AS ends_ns,
        greatest(in_elements, out_elements)
        * dtype_bytes(dtype) AS bytes,
        bool_and(corrected_start_ns IS NOT NULL) OVER same_call
        AND min(reference_rank) OVER same_call = max(reference_rank) OVER same_call
        AND is_matched AS is_timed
    FROM corrected
    WINDOW
        same_call AS (
            PARTITION BY
                process_group_id,
                cycle,
                source_rank,
                target_rank,
                is_point_to_point,
                ordinal,
                is_matched
        )
),

waited AS (
    SELECT
        *,
        if(
            is_timed AND awaited_ns IS NOT NULL,
            least(greatest(awaited_ns - corrected_start_ns, 0), dur_ns),
            NULL
        ) AS wait_ns
    FROM compared
)

SELECT
    source_id,
    waited.rank,
    device_id,
    collective_id,
    op_id,
    stream,
    step,
    process_group_id,
    cycle,
    ordinal,
    kind,
    dtype,
    in_elements,
    out_elements,
    (in_elements * dtype_bytes(dtype))::BIGINT AS in_bytes,
    (out_elements * dtype_bytes(dtype))::BIGINT AS out_bytes,
    CASE kind WHEN 'send' THEN target_rank WHEN 'recv' THEN source_rank END AS peer_rank,
    start_ns,
    dur_ns,
    corrected_start_ns,
    uncertainty_ns,
    is_matched,
    unmatched_reason,
    ranks,
    if(is_point_to_point, FALSE, ranks < group_size) AS is_bound,
    wait_ns,
    dur_ns - wait_ns AS transfer_ns,
    if(is_timed, corrected_start_ns - first_ns, NULL) AS lateness_ns,
    if(is_timed AND ends_together(kind) AND NOT has_splits, ends_ns, NULL) AS ends_spread_ns,
    if(
        is_timed AND call_uncertainty_ns IS NOT NULL,
        corrected_start_ns = last_ns
        AND (NOT has_root OR is_root)
        AND last_ns - first_ns > greatest(coalesce(ends_spread_ns, 0), call_uncertainty_ns),
        NULL
    ) AS is_last,
    CASE
        WHEN
            is_last
            AND latest[1]['start_ns'] - latest[2]['start_ns'] > greatest(
                coalesce(ends_spread_ns, 0),
                if(
                    latest[1]['clock'] = latest[2]['clock'],
                    0,
                    sqrt(
                        pow(latest[1]['uncertainty_ns'], 2) + pow(latest[2]['uncertainty_ns'], 2)
                    )
                )
            )
            THEN latest[1]['start_ns'] - latest[2]['start_ns']
    END AS late_ns,
    bytes / nullif(transfer_ns, 0) AS algorithm_gb_per_s,
    algorithm_gb_per_s * bus_factor(kind, group_size) AS bus_gb_per_s
FROM waited
ORDER BY waited.rank, start_ns, collective_id;
