-- Work of collectives that the host computes, such as those of Gloo, on threads of the library.
-- One row: the annotation of a collective.
-- Materialised: most runs have none, and then nothing about collectives has to be planned.
SELECT source_id, rank, event_id, start_ns, end_ns, collective_kind(name) AS kind
FROM complete
WHERE category = 'user_annotation' AND regexp_matches(name, '^(gloo|mpi|ucc):');
