-- Ranks in which the types of the operators' inputs were recorded.
-- One row: a rank.
-- Materialised: the long statement of `run_metrics` would parse the JSON of all operators.
SELECT DISTINCT rank
FROM complete
WHERE
    category IN ('cpu_op', 'user_annotation')
    AND contains(args, '"Input ')
    AND coalesce(
        json_extract_string(args, '$."Input type"'), json_extract_string(args, '$."Input Types"')
    ) IS NOT NULL;
