-- The captures that graph launches replay.
-- One row: a capture whose recorded launches are the activities of a launch, in the same order. Of
-- launches with the same activities, only `graph_launches.example_id` is listed.
-- Materialised: several relations read it.
--
-- Captures of the same rank come first, and of those that fit, captures whose kernels all have a
-- known name. Other captures need an equal name, or so many activities that their number is hardly
-- equal by chance. They fit only in the order of the calls, so they must not have a fork. ROCm's
-- profiler loses the last activity of a graph, so that one may be missing.
WITH
captures AS (
    SELECT
        graph_nodes.rank,
        graph_nodes.capture_id,
        own.end_ns,
        count(*) AS nodes,
        bool_or(graph_nodes.is_forked) AS is_forked,
        count(graph_nodes.kernel) > 0
        AND count(graph_nodes.kernel) = count(*) FILTER (graph_nodes.kind = 'kernel') AS is_named
    FROM graph_nodes
    LEFT JOIN graph_captures AS own ON graph_nodes.capture_id = own.capture_id
    GROUP BY graph_nodes.rank, graph_nodes.capture_id, own.end_ns
),

examples AS (
    SELECT
        *,
        coalesce(rank IN (SELECT captures.rank FROM captures), FALSE) AS has_own_captures
    FROM graph_launches
    WHERE launch_id = example_id
),

pairs AS (
    SELECT
        examples.example_id,
        captures.capture_id,
        captures.is_named,
        examples.activities
    FROM examples
    INNER JOIN captures
        ON
            (examples.rank = captures.rank OR NOT examples.has_own_captures)
            AND (
                examples.activities = captures.nodes
                OR (
                    examples.activities = captures.nodes - 1
                    AND captures.is_named AND examples.is_in_order AND examples.is_rocm
                )
            )
    WHERE
        (captures.is_named OR (examples.is_in_order AND NOT captures.is_forked))
        -- In one process, a graph is launched after its capture.
        AND (
            captures.end_ns IS NULL
            OR captures.rank <> examples.rank
            OR captures.end_ns <= examples.launch_ns
        )
),

fitting AS (
    SELECT pairs.*
    FROM pairs
    INNER JOIN replayed_activities AS activity ON pairs.example_id = activity.launch_id
    INNER JOIN graph_places AS node USING (capture_id, place)
    GROUP BY ALL
    HAVING
        count(*) = pairs.activities
        AND (count(node.kernel) > 0 OR pairs.activities >= 10)
        AND bool_and(
            activity.kind = node.kind AND (node.kernel IS NULL OR activity.kernel = node.kernel)
        )
)

SELECT example_id, capture_id, is_named
FROM fitting
QUALIFY rank() OVER (PARTITION BY example_id ORDER BY NOT is_named) = 1;
