-- The recorded launches of graphs by their position: in the graph, and among those of the same kind
-- and kernel.
-- One row: a recorded launch at one of these positions.
WITH numbered AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY capture_id, kind, kernel ORDER BY ordinal)
            AS ordinal_of_kernel
    FROM graph_nodes
)

SELECT *, graph_place(ordinal) AS place FROM numbered
UNION ALL
SELECT *, graph_place(ordinal_of_kernel, kind := kind, kernel := kernel) AS place FROM numbered;
