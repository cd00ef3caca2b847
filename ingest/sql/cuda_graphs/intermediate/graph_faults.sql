-- Problems with the traces of captures of CUDA graphs.
-- One row: a warning.
WITH captures AS (
    SELECT source_id, count(DISTINCT capture_id) AS captures
    FROM staged_graph_nodes
    GROUP BY source_id
)

SELECT
    source_id,
    'captures_unmatched' AS code,
    concat(
        'no graph launch of the run replays ',
        if(captures = 1, 'its capture', concat('any of its ', captures, ' captures'))
    ) AS message
FROM captures
ANTI JOIN (
    SELECT staged_graph_nodes.source_id
    FROM staged_graph_nodes
    INNER JOIN graph_programs USING (capture_id)
    SEMI JOIN replayed_programs USING (program_id)
) AS replayed USING (source_id);
