-- `not_freed()`: the name of the owner of memory that was in use during the entire trace and has no
-- other known owner.
CREATE MACRO not_freed() AS '(not freed)';
