-- When each rank was measured: its steps; where no steps were found, all that was recorded.
-- One row: a stretch of time.
SELECT rank, start_ns, start_ns + dur_ns AS end_ns FROM steps;
