-- Device activities of graph launches, with their position in the graph.
-- One row: an activity.
-- Materialised: it is joined, and DuckDB then knows its size.
--
-- Graph node ids number the nodes in the order of recording. Without ids, the activities of one
-- stream run in that order. With several streams, `place` counts the activities of the same kernel.
-- That is their order if all of them ran on one stream.
WITH
activities AS (
    SELECT
        activity.rank,
        launches.launch_id,
        launches.launch_ns,
        starts_with(launches.launch_name, 'hip') AS is_rocm,
        activity.event_id,
        activity.start_ns,
        replayed_kind(activity.category, activity.name) AS kind,
        CASE WHEN activity.category = 'kernel' THEN activity.name END AS kernel,
        recorded.stream,
        recorded.graph_node_id,
        recorded.graph_label,
        recorded.graph_module
    FROM launches
    INNER JOIN complete AS activity USING (event_id)
    LEFT JOIN staged_activities AS recorded USING (event_id)
    WHERE is_graph_launch(launches.launch_name)
),

launched AS (
    SELECT
        launch_id,
        count(*) AS activities,
        coalesce(min(stream) = max(stream), TRUE) AS has_one_stream,
        count(DISTINCT graph_node_id) = count(*) AS has_nodes
    FROM activities
    GROUP BY launch_id
),

numbered AS (
    SELECT
        activities.*,
        launched.activities,
        launched.has_one_stream OR launched.has_nodes AS is_in_order,
        row_number() OVER (
            PARTITION BY activities.launch_id
            ORDER BY
                if(launched.has_nodes, activities.graph_node_id, 0),
                activities.start_ns,
                activities.event_id
        ) AS ordinal,
        row_number() OVER (
            PARTITION BY activities.launch_id, activities.kind, activities.kernel
            ORDER BY activities.start_ns, activities.event_id
        ) AS ordinal_of_kernel,
        coalesce(
            min(activities.stream) OVER of_kernel = max(activities.stream) OVER of_kernel, TRUE
        ) AS has_kernel_on_one_stream
    FROM activities
    INNER JOIN launched USING (launch_id)
    WINDOW of_kernel AS (PARTITION BY activities.launch_id, activities.kind, activities.kernel)
)

SELECT
    rank,
    launch_id,
    launch_ns,
    is_rocm,
    event_id,
    start_ns,
    kind,
    kernel,
    activities,
    is_in_order,
    has_kernel_on_one_stream,
    graph_node_id,
    graph_label,
    graph_module,
    CASE
        WHEN is_in_order THEN graph_place(ordinal)
        ELSE graph_place(ordinal_of_kernel, kind := kind, kernel := kernel)
    END AS place
FROM numbered;
