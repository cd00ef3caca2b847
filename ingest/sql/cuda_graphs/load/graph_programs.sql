-- The captures by what they recorded: those of a rank with the same kinds and kernels in the same
-- order are one program, such as those of a server for each batch size.
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
