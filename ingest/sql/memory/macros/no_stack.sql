-- `no_stack()`: the name of the owner of memory without a recorded stack.
CREATE MACRO no_stack() AS '(no stack)';
