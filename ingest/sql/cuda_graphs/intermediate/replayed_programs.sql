-- The programs that graph launches replay.
-- One row: a program whose recorded launches are the activities of a launch, in the same order. Of
-- launches with the same activities, only `graph_launches.example_id` is listed.
-- Materialised: several relations read it.
--
-- A rank that has captures replays these, or captures of an unknown rank. A program whose kernels
-- all have a known name is preferred. Any other program needs an equal name or ten activities,
-- because small numbers are often equal by chance, and it must not fork, because only the order of
-- the calls identifies its kernels. ROCm's profiler loses the last activity of a graph, so that one
-- may be missing.
WITH
programs AS (
    SELECT DISTINCT * EXCLUDE (capture_id) FROM graph_programs
),

examples AS (
    SELECT
        *,
        coalesce(rank IN (SELECT programs.rank FROM programs), FALSE) AS has_own_captures
    FROM graph_launches
    WHERE launch_id = example_id
),

pairs AS (
    SELECT
        examples.example_id,
        programs.program_id,
        programs.is_named,
        examples.activities
    FROM examples
    INNER JOIN programs
        ON
            (
                examples.rank = programs.rank
                OR programs.rank IS NULL
                OR NOT examples.has_own_captures
            )
            AND (
                examples.activities = programs.nodes
                OR (
                    examples.activities = programs.nodes - 1
                    AND programs.is_named AND examples.is_in_order AND examples.is_rocm
                )
            )
    WHERE
        (programs.is_named OR (examples.is_in_order AND NOT programs.is_forked))
        -- In one process, a graph is launched after its capture.
        AND (
            programs.first_end_ns IS NULL
            OR programs.rank <> examples.rank
            OR programs.first_end_ns <= examples.launch_ns
        )
),

fitting AS (
    SELECT pairs.*
    FROM pairs
    INNER JOIN replayed_activities AS activity ON pairs.example_id = activity.launch_id
    INNER JOIN graph_places AS node USING (program_id, place)
    GROUP BY ALL
    HAVING
        count(*) = pairs.activities
        AND (count(node.kernel) > 0 OR pairs.activities >= 10)
        AND bool_and(
            activity.kind = node.kind AND (node.kernel IS NULL OR activity.kernel = node.kernel)
        )
)

SELECT example_id, program_id, is_named
FROM fitting
QUALIFY rank() OVER (PARTITION BY example_id ORDER BY NOT is_named) = 1;
