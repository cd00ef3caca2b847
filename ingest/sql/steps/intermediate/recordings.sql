-- The time of each recording: from the start of the first event to the end of the last one,
-- without annotations.
-- One row: an input file with such events.
-- Materialised: several relations read it.
SELECT source_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
FROM complete
WHERE side <> 'annotation'
GROUP BY source_id;
