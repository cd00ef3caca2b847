-- Part of `alignment`: operators, and the fused kernels whose names list them:
-- `fusion_groups(work_items, ops_in_names)`, with the work items that have no counterpart yet, and
-- a table in the form of `fused_kernel_ops`. The operators of a name are distributed in order over
-- the kernels that list it.
-- One row: an operator that a fused kernel lists, or a fused kernel that lists such an operator.
--
-- side, work_item_id, group_id
-- evidence  always `fusion`
CREATE MACRO fusion_groups(work_items, ops_in_names) AS TABLE
    WITH
    numbered_ops AS (
        SELECT
            side,
            work_item_id,
            short_name,
            row_number() OVER (PARTITION BY short_name ORDER BY start_ns, work_item_id) AS number,
            count(*) OVER (PARTITION BY short_name) AS ops
        FROM query_table(work_items)
        WHERE NOT is_coarse
    ),

    listed_ops AS MATERIALIZED (
        SELECT op.side, op.work_item_id, listed.group_id
        FROM numbered_ops AS op
        INNER JOIN query_table(ops_in_names) AS listed
            ON
                op.short_name = listed.short_name
                AND (op.number - 1) * listed.kernels // op.ops + 1 = listed.number
    )

    SELECT side, work_item_id, group_id, 'fusion' AS evidence FROM listed_ops
    UNION ALL
    SELECT kernel.side, kernel.work_item_id, fused.group_id, 'fusion' AS evidence
    FROM query_table(work_items) AS kernel
    INNER JOIN (SELECT DISTINCT work_item_id, group_id FROM query_table(ops_in_names)) AS fused
        ON kernel.work_item_id = fused.work_item_id
    WHERE kernel.is_coarse AND fused.group_id IN (SELECT group_id FROM listed_ops);
