-- `is_default_group(process_group, description)`: whether a process group is the one of all ranks.
-- Its name is 0, and versions 1.x record no description.
CREATE MACRO is_default_group(process_group, description) AS coalesce(
    description = 'default_pg', process_group = '0'
);
