-- Graph launches that have activities. Launches with the same activities replay the same graph, so
-- only one of them, `example_id`, is compared with captures. A capture of the rank between two
-- launches separates them.
-- One row: a launch.
-- Materialised: it is joined, and DuckDB then knows its size.
WITH sequences AS (
    SELECT
        rank,
        launch_id,
        launch_ns,
        is_rocm,
        is_in_order,
        activities,
        list(hash(kind, kernel) ORDER BY place) AS work
    FROM replayed_activities
    GROUP BY rank, launch_id, launch_ns, is_rocm, is_in_order, activities
)

SELECT
    sequences.rank,
    sequences.launch_id,
    sequences.launch_ns,
    sequences.is_rocm,
    sequences.is_in_order,
    sequences.activities,
    min(sequences.launch_id) OVER (
        PARTITION BY
            sequences.rank, sequences.is_in_order, sequences.work, captures.capture_id
    ) AS example_id
FROM sequences
ASOF LEFT JOIN graph_captures AS captures
    ON sequences.rank = captures.rank AND sequences.launch_ns >= captures.end_ns;
