-- `torch_name(name, category)`: the name under which torch's tables count a call. All steps share
-- one name, and operators lose their overload.
CREATE MACRO torch_name(name, category) AS CASE
    WHEN starts_with(name, 'ProfilerStep#') THEN 'ProfilerStep*'
    WHEN category = 'cpu_op' AND regexp_matches(name, '^\w+::\w+\.\w+$')
        THEN split_part(name, '.', 1)
    ELSE name
END;
