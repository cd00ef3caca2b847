-- `no_stack()`: the name under which memory is counted whose stack was not recorded.
CREATE MACRO no_stack() AS '(no stack)';
