-- Labels of the work of diffusers pipelines.
-- One row: a label, with its kind as in `stage_mark` and the name that it contains.
-- Materialised: several relations read it.
SELECT
    source_id,
    rank,
    lane,
    event_id,
    stage_mark(name) AS kind,
    split_part(name, ': ', 2) AS label,
    start_ns,
    end_ns
FROM complete
WHERE category = 'user_annotation' AND stage_mark(name) IS NOT NULL AND end_ns > start_ns;
