-- Collectives and point-to-point calls, with those of other ranks that belong to the same call.
-- One row: a row of `collective_calls`. `ranks` is the number of ranks with the call.
-- Materialised: several relations read it.
WITH
numbered AS (
    SELECT
        calls.* EXCLUDE (has_splits),
        bool_or(calls.has_splits) OVER same_call AS has_splits,
        clocks.clock,
        ordinals.ordinal,
        ordinals.is_ambiguous,
        if(
            ordinals.ordinal IS NULL, NULL, count(DISTINCT calls.rank) OVER same_call
        ) AS ranks,
        NOT calls.is_point_to_point
        AND (
            min(calls.kind) OVER same_call <> max(calls.kind) OVER same_call
            OR min(calls.dtype) OVER same_call <> max(calls.dtype) OVER same_call
        ) AS differs
    FROM collective_calls AS calls
    LEFT JOIN clocks ON calls.rank = clocks.rank
    LEFT JOIN collective_ordinals AS ordinals ON calls.collective_id = ordinals.collective_id
    WINDOW
        same_call AS (
            PARTITION BY
                calls.process_group_id,
                calls.cycle,
                calls.source_rank,
                calls.target_rank,
                calls.is_point_to_point,
                ordinals.ordinal
        )
)

SELECT
    * EXCLUDE (differs, is_ambiguous),
    CASE
        WHEN process_group_id IS NULL THEN 'no_group'
        WHEN kind IS NULL OR kind = 'send_recv' THEN 'no_kind'
        WHEN is_ambiguous THEN 'ambiguous'
        WHEN ordinal IS NULL THEN if(is_point_to_point, 'no_peer', 'no_order')
        WHEN ranks = 1 THEN 'one_rank'
        WHEN coalesce(differs, FALSE) THEN 'mismatch'
    END AS unmatched_reason
FROM numbered;
