-- `group_kind(name, description)`: how the work is divided among the ranks of a process group, from
-- its name and its description, such as `mesh_tp` or `DATA_PARALLEL_GROUP`: tensor, data, pipeline,
-- expert, context, or default for the group of all ranks. Null if they do not say it.
CREATE MACRO group_kind(name, description) AS CASE
    WHEN description = 'default_pg' THEN 'default'
    ELSE CASE regexp_extract(
        lower(concat_ws(' ', description, name)),
        '(?:^|[^a-z])(tp|dp|pp|ep|cp|tensor|data|pipeline|expert|context)(?:[^a-z]|$)',
        1
    )
        WHEN 'tp' THEN 'tensor'
        WHEN 'tensor' THEN 'tensor'
        WHEN 'dp' THEN 'data'
        WHEN 'data' THEN 'data'
        WHEN 'pp' THEN 'pipeline'
        WHEN 'pipeline' THEN 'pipeline'
        WHEN 'ep' THEN 'expert'
        WHEN 'expert' THEN 'expert'
        WHEN 'cp' THEN 'context'
        WHEN 'context' THEN 'context'
    END
END;
