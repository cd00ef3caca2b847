-- `before_trace()`: the name under which memory is counted that was allocated before the trace
-- began.
CREATE MACRO before_trace() AS '(before the trace)';
