-- The measured time of each rank: its steps, or the whole recording if no steps were found.
-- One row: an interval of time.
SELECT rank, start_ns, start_ns + dur_ns AS end_ns FROM steps;
