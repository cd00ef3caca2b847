-- Starts of the calls of compiled graphs, as intervals of one nanosecond for `overlapping`.
-- One row: the start of a call.
SELECT lane, start_ns AS from_ns, start_ns + 1 AS to_ns FROM graph_calls;
