-- The captures that graph launches replay.
-- One row: a capture whose recorded launches are the activities of a launch, in the same order. Of
-- launches with the same activities, only `graph_launches.example_id` is listed.
-- Materialised: several relations read it.
--
-- If several captures fit, those of the same rank come first, then those whose kernels all have a
-- known name, then those without a missing activity: ROCm's profiler loses the last activity of a
-- graph.
WITH
captures AS (
    SELECT
        rank,
        capture_id,
        count(*) AS nodes,
        count(*) FILTER (kind = 'kernel' AND kernel IS NULL) = 0 AS is_named
    FROM graph_nodes
    GROUP BY rank, capture_id
),

pairs AS (
    SELECT
        launched.example_id,
        captures.capture_id,
        captures.is_named,
        launched.activities,
        coalesce(launched.rank = captures.rank, FALSE) AS has_same_rank,
        captures.nodes - launched.activities AS missing
    FROM graph_launches AS launched
    INNER JOIN captures
        ON
            launched.activities = captures.nodes
            OR (
                launched.activities = captures.nodes - 1
                AND captures.is_named AND launched.is_in_order
            )
    WHERE launched.launch_id = launched.example_id AND (launched.is_in_order OR captures.is_named)
),

fitting AS (
    SELECT pairs.*
    FROM pairs
    INNER JOIN replayed_activities AS activity ON pairs.example_id = activity.launch_id
    INNER JOIN graph_places AS node USING (capture_id, place)
    GROUP BY ALL
    HAVING
        count(*) = pairs.activities
        AND bool_and(
            activity.kind = node.kind AND (node.kernel IS NULL OR activity.kernel = node.kernel)
        )
)

SELECT example_id, capture_id, is_named
FROM fitting
QUALIFY rank() OVER (
    PARTITION BY example_id ORDER BY NOT has_same_rank, NOT is_named, missing
) = 1;
