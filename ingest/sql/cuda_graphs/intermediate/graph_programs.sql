-- Captures grouped into programs. Captures of a rank that recorded the same kernels, copies and
-- memsets in the same order are one program. A server's captures for each batch size often are.
-- One row: a capture. `program_id` is the first capture of its program.
-- Materialised: several relations read it.
WITH captures AS (
    SELECT
        rank,
        capture_id,
        count(*) AS nodes,
        bool_or(is_forked) AS is_forked,
        count(kernel) > 0 AND count(kernel) = count(*) FILTER (kind = 'kernel') AS is_named,
        list(hash(kind, kernel) ORDER BY ordinal) AS work
    FROM graph_nodes
    GROUP BY rank, capture_id
)

SELECT
    captures.rank,
    captures.capture_id,
    min(captures.capture_id) OVER of_program AS program_id,
    captures.nodes,
    bool_or(captures.is_forked) OVER of_program AS is_forked,
    captures.is_named,
    -- Null if one of the captures is not in a trace of the run.
    CASE
        WHEN count(own.end_ns) OVER of_program = count(*) OVER of_program
            THEN min(own.end_ns) OVER of_program
    END AS first_end_ns
FROM captures
LEFT JOIN graph_captures AS own ON captures.capture_id = own.capture_id
WINDOW of_program AS (PARTITION BY captures.rank, captures.work);
