-- `annotated_module_id(module)`: the `module_tree.module_id` of a module that an annotation names
-- by its path; the same number in all runs. Null without a module.
CREATE MACRO annotated_module_id(module) AS CASE
    WHEN module IS NOT NULL THEN (hash('module', module) >> 1)::BIGINT
END;
