-- `annotated_module_id(module)`: the `module_tree.module_id` of a module that an annotation names
-- by its path; the same number in all runs.
CREATE MACRO annotated_module_id(module) AS (hash('module', module) >> 1)::BIGINT;
