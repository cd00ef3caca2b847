-- Graph launches of which activities were recorded. Launches with the same activities replay the
-- same graph, so it is enough to compare one of them, `example_id`, with captures.
-- One row: a launch.
-- Materialised: it is joined, and DuckDB then knows its size.
WITH sequences AS (
    SELECT
        rank,
        launch_id,
        is_in_order,
        activities,
        list(hash(kind, kernel) ORDER BY place) AS work
    FROM replayed_activities
    GROUP BY rank, launch_id, is_in_order, activities
)

SELECT
    rank,
    launch_id,
    is_in_order,
    activities,
    min(launch_id) OVER (PARTITION BY rank, is_in_order, work) AS example_id
FROM sequences;
