-- `before_trace()`: the name of the owner of memory that was allocated before the trace began.
CREATE MACRO before_trace() AS '(before the trace)';
