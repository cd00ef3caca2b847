-- Dumps of the flight recorder that could not be read.
-- One row: a file.
SELECT source_id, rank
FROM staged_files
WHERE kind = 'flight_recorder' AND status = 'failed';
