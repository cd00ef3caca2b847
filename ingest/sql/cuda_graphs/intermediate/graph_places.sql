-- The launches that programs recorded, by two positions: in the graph, and among the launches of
-- the same kernel. Several streams may replay launches of the same kernel in any order, so the
-- second position has only what all of these launches have in common. Likewise, a program with
-- several captures has only what all of them have in common.
-- One row: a position in a program.
-- Materialised: it is joined, and DuckDB then knows its size.
WITH
numbered AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY capture_id, kind, kernel ORDER BY ordinal)
            AS ordinal_of_kernel
    FROM graph_nodes
),

of_kernels AS (
    SELECT
        capture_id,
        kind,
        kernel,
        count(*) AS launches,
        agreed(op) AS op,
        agreed(top_op) AS top_op,
        agreed(module_id) AS module_id
    FROM graph_nodes
    GROUP BY capture_id, kind, kernel
),

placed AS (
    SELECT *, graph_place(ordinal) AS place FROM numbered
    UNION ALL BY NAME
    SELECT
        numbered.* REPLACE (
            if(of_kernels.launches = 1, numbered.recorded_id, NULL) AS recorded_id,
            if(of_kernels.launches = 1, numbered.top_op_ordinal, NULL) AS top_op_ordinal,
            of_kernels.op AS op,
            of_kernels.top_op AS top_op,
            of_kernels.module_id AS module_id
        ),
        graph_place(
            numbered.ordinal_of_kernel, kind := numbered.kind, kernel := numbered.kernel
        ) AS place
    FROM numbered
    INNER JOIN of_kernels
        ON
            numbered.capture_id = of_kernels.capture_id
            AND numbered.kind = of_kernels.kind
            AND numbered.kernel IS NOT DISTINCT FROM of_kernels.kernel
)

SELECT
    programs.program_id,
    placed.place,
    any_value(placed.kind) AS kind,
    any_value(placed.kernel) AS kernel,
    CASE
        WHEN
            count(placed.recorded_id) = count(*)
            AND count(DISTINCT hash(
                placed.op, placed.top_op, placed.module_id, placed.input_dims, placed.input_types,
                placed.concrete_inputs
            )) = 1
            THEN min(placed.recorded_id)
    END AS recorded_id,
    agreed(placed.op) AS op,
    agreed(placed.top_op) AS top_op,
    CASE WHEN agreed(placed.top_op) IS NOT NULL THEN agreed(placed.top_op_ordinal) END
        AS top_op_ordinal,
    agreed(placed.module_id) AS module_id
FROM placed
INNER JOIN graph_programs AS programs USING (capture_id)
GROUP BY programs.program_id, placed.place;
